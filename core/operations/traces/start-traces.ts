import { hostname } from "node:os";
import packageJson from "../../../package.json" with { type: "json" };
import { env } from "../../env.ts";
import { newId } from "../../ids.ts";
import type { ProcessKind } from "../heartbeat.ts";
import type { Traces } from "./traces.ts";

let own: Traces | undefined;

export const traces = (): Traces | undefined => own;

/** Without an endpoint, nothing of OpenTelemetry is loaded. */
export async function startTraces(kind: ProcessKind): Promise<{ stop(): Promise<void> }> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = env();
  if (!endpoint) return { stop: async () => undefined };
  const [{ TracerProvider, BatchSpanProcessor }, { OTLPTraceExporter }, { resourceFromAttributes }, { Traces }] =
    await Promise.all([
      import("@opentelemetry/sdk-trace"),
      import("@opentelemetry/exporter-trace-otlp-http"),
      import("@opentelemetry/resources"),
      import("./traces.ts"),
    ]);
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      "service.name": `keyhook-${kind}`,
      "service.version": packageJson.version,
      "service.instance.id": newId(),
      "host.name": hostname(),
    }),
    // A collector that is unavailable delays nothing and does not fill the memory.
    spanProcessors: [
      new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, "")}/v1/traces` }) }),
    ],
  });
  const started = new Traces(provider.getTracer("keyhook", packageJson.version));
  own = started;
  return {
    async stop() {
      own = undefined;
      started.stop();
      await provider.shutdown().catch(() => undefined);
    },
  };
}
