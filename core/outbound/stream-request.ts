import { Deadline, unlessAborted } from "./deadline.ts";
import { type AllowAddress, isAllowedAddress } from "./is-allowed-address.ts";
import { decoded, type Exchange, type ExchangeRequest, openExchange } from "./open-exchange.ts";
import { failureOf, OutboundFailure, type OutboundResult } from "./request.ts";
import { type ResolveHost, resolveHost } from "./resolve-host.ts";
import { CONNECT_MS } from "./send-request.ts";

export type StreamedRequest = ExchangeRequest & {
  /** The longest silence before the head of the response, and between two pieces of its body. */
  idleMs: number;
  deadlineMs: number;
  /** The part of `deadlineMs` for DNS, connect and TLS. The default is 5,000. */
  connectMs?: number;
  signal?: AbortSignal;
  /** Set this only for an address that an operator chose for all users. */
  allows?: AllowAddress;
};

export type StreamedResult =
  | {
      outcome: "answered";
      status: number;
      headers: Record<string, string>;
      /** The consumer must limit the length. Read the body to its end, leave the loop with `break`, or call `close`. */
      body: AsyncGenerator<Uint8Array, void, undefined>;
      close(): void;
    }
  | Exclude<OutboundResult, { outcome: "answered" }>;

/** @param resolve replaces the machine's name servers, for tests */
export async function streamRequest(request: StreamedRequest, resolve: ResolveHost = resolveHost): Promise<StreamedResult> {
  const { idleMs, deadlineMs, connectMs = CONNECT_MS, signal: readerSignal, allows = isAllowedAddress } = request;
  const deadline = new Deadline(deadlineMs, connectMs);
  const abandon = () => deadline.end(OutboundFailure.unreachable("the request was abandoned"));
  const finish = () => {
    deadline.clear();
    readerSignal?.removeEventListener("abort", abandon);
  };
  readerSignal?.addEventListener("abort", abandon);
  if (readerSignal?.aborted) abandon();
  try {
    deadline.startSilence(idleMs);
    const exchange = await openExchange(request, deadline, resolve, allows);
    deadline.stopSilence();
    const { status, headers } = exchange;
    const close = () => {
      abandon();
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
      // Only the other side's silence counts, not the time that the reader takes.
      deadline.startSilence(idleMs);
      const { done, value } = await unlessAborted(incoming.next(), deadline.signal);
      deadline.stopSilence();
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
