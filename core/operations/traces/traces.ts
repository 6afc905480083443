import {
  type Attributes,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { type AttemptSeen, attemptsSeen, type FanOutSeen, fanOutsSeen, isTraceparent } from "../../telemetry.ts";

export class Traces {
  readonly #tracer: Tracer;
  readonly #stops: (() => void)[];

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
    this.#stops = [
      fanOutsSeen.subscribe((seen) => this.#addFanOut(seen)),
      attemptsSeen.subscribe((seen) => this.#addAttempt(seen)),
    ];
  }

  stop(): void {
    for (const stop of this.#stops) stop();
  }

  beginRequest(name: string, attributes: Attributes, parent: string | null): RequestSpan {
    const span = this.#tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, contextOf(parent));
    return {
      traceparent: traceparentOf(span.spanContext()),
      end(status) {
        span.setAttribute("http.response.status_code", status);
        if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      },
    };
  }

  #addFanOut({ startedAt, milliseconds, events, deliveries }: FanOutSeen): void {
    const attributes = { "keyhook.fan_out.events": events.length, "keyhook.fan_out.deliveries": deliveries };
    for (const { id, traceparent } of events) {
      if (traceparent === null) continue;
      this.#add("fan out", traceparent, startedAt.getTime(), milliseconds, {
        kind: SpanKind.CONSUMER,
        attributes: { ...attributes, "keyhook.event.id": id },
      });
    }
  }

  #addAttempt(seen: AttemptSeen): void {
    const { deliveryId, webhookId, eventId, kind, outcome, status, isJob, startedAt, milliseconds, timings, traceparent } = seen;
    const begin = startedAt.getTime();
    const attempt = this.#add(isJob ? "run job" : "deliver", traceparent, begin, milliseconds, {
      kind: SpanKind.CLIENT,
      isFailed: outcome !== "delivered",
      attributes: {
        ...{ "keyhook.delivery.id": deliveryId, "keyhook.webhook.id": webhookId, "keyhook.event.id": eventId },
        ...{ "keyhook.attempt.kind": kind, "keyhook.attempt.outcome": outcome },
        ...(status !== null && { "http.response.status_code": status }),
      },
    });
    if (!timings) return;
    const { firstByteMs } = timings;
    const [dnsMs, connectMs, tlsMs] = [timings.dnsMs ?? 0, timings.connectMs ?? 0, timings.tlsMs ?? 0];
    const parent = traceparentOf(attempt.spanContext());
    let at = begin;
    for (const [name, took] of [
      ["dns", dnsMs],
      ["connect", connectMs],
      ["tls", tlsMs],
      ["first byte", firstByteMs],
      ["body", Math.max(0, milliseconds - dnsMs - connectMs - tlsMs - firstByteMs)],
    ] as const) {
      if (took > 0) this.#add(name, parent, at, took, {});
      at += took;
    }
  }

  #add(
    name: string,
    parent: string | null,
    begin: number,
    milliseconds: number,
    {
      kind = SpanKind.INTERNAL,
      attributes = {},
      isFailed = false,
    }: { kind?: SpanKind; attributes?: Attributes; isFailed?: boolean },
  ): Span {
    const span = this.#tracer.startSpan(name, { kind, attributes, startTime: begin }, contextOf(parent));
    if (isFailed) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(begin + milliseconds);
    return span;
  }
}

export type RequestSpan = { traceparent: string; end(status: number): void };

function contextOf(traceparent: string | null) {
  if (!isTraceparent(traceparent)) return ROOT_CONTEXT;
  const [, traceId = "", spanId = "", flags = "00"] = traceparent.split("-");
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true });
}

const traceparentOf = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
