import { hostname } from "node:os";
import packageJson from "../../../package.json" with { type: "json" };
import { env } from "../../env.ts";
import { newId } from "../../ids.ts";
import type { ProcessKind } from "../heartbeat.ts";
import type { Traces } from "./traces.ts";

let own: Traces | undefined;

/** The spans of this process; undefined where no collector is set. */
export const traces = (): Traces | undefined => own;

/**
 * Sends traces to OTEL_EXPORTER_OTLP_ENDPOINT from now on. Without it nothing of OpenTelemetry is loaded, and no event has a trace.
 * @returns what sends the rest and ends it
 */
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
    // What it cannot send in time it drops: a collector that is away never holds anything up, nor fills the memory.
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
