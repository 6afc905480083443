import { Deadline } from "./deadline.ts";
import { failureOf } from "./failure-of.ts";
import { type AllowAddress, isAllowedAddress } from "./is-allowed-address.ts";
import { type Exchange, type ExchangeRequest, openExchange } from "./open-exchange.ts";
import { decoded } from "./read-body.ts";
import { OutboundFailure, type OutboundResult } from "./request.ts";
import { type ResolveHost, resolveHost } from "./resolve-host.ts";
import { CONNECT_MS } from "./send-request.ts";

export type StreamedRequest = ExchangeRequest & {
  /** How long the other side may be silent: before the head of its answer, and between two pieces of it. */
  idleMs: number;
  /** When it ends, however lively it is. */
  deadlineMs: number;
  /** Of it, for DNS, connect and TLS; 5 s unless given. */
  connectMs?: number;
  /** Ends the request when whoever it is for has gone. */
  signal?: AbortSignal;
  /** In place of `isAllowedAddress`, where an operator has chosen the address for everybody. */
  allows?: AllowAddress;
};

export type StreamedResult =
  | {
      outcome: "answered";
      status: number;
      headers: Record<string, string>;
      /**
       * Decompressed, read from the other side only as fast as it is taken from here, and not bounded: that is for whoever takes it.
       * Ends with an `OutboundFailure` when the answer breaks off. To be read to its end, left with `break`, or closed.
       */
      body: AsyncGenerator<Uint8Array, void, undefined>;
      /** Ends the connection, at any time. */
      close(): void;
    }
  | Exclude<OutboundResult, { outcome: "answered" }>;

/**
 * As `sendRequest`, for an answer that comes piece by piece and may take its time: the same vetting and the same connection, but what
 * is bounded is silence.
 *
 * @param resolve in place of the machine's name servers, for tests.
 */
export async function streamRequest(request: StreamedRequest, resolve: ResolveHost = resolveHost): Promise<StreamedResult> {
  const { idleMs, deadlineMs, connectMs = CONNECT_MS, signal: gone, allows = isAllowedAddress } = request;
  const deadline = new Deadline(deadlineMs, connectMs);
  const leave = () => deadline.end(OutboundFailure.unreachable("the request was given up"));
  const finish = () => {
    deadline.clear();
    gone?.removeEventListener("abort", leave);
  };
  gone?.addEventListener("abort", leave);
  if (gone?.aborted) leave();
  try {
    deadline.expect(idleMs);
    const exchange = await openExchange(request, deadline, resolve, allows);
    deadline.rest();
    const { status, headers } = exchange;
    const close = () => {
      leave();
      finish();
      exchange.close();
    };
    return { outcome: "answered", status, headers, body: pieces(exchange, deadline, idleMs, finish), close };
  } catch (error) {
    finish();
    return failureOf(deadline.signal.aborted ? deadline.signal.reason : error).result;
  }
}

async function* pieces(
  { body, headers, close }: Exchange,
  deadline: Deadline,
  idleMs: number,
  finish: () => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    const incoming = decoded(body, headers)[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
    for (;;) {
      // The clock runs while the other side is waited for, not while whoever reads takes their time.
      deadline.expect(idleMs);
      const { done, value } = await untilAborted(incoming.next(), deadline.signal);
      deadline.rest();
      if (done) return;
      yield value;
    }
  } catch (error) {
    throw failureOf(deadline.signal.aborted ? deadline.signal.reason : error);
  } finally {
    finish();
    close();
  }
}

/** Decompression between us and the connection does not hear of an abort by itself. */
async function untilAborted<T>(waiting: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let abort: () => void = () => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort);
  });
  // Nobody waits for the one that comes second.
  waiting.catch(() => undefined);
  try {
    return await Promise.race([waiting, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
