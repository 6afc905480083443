import { Deadline } from "./deadline.ts";
import { type Exchange, openExchange, readBody } from "./open-exchange.ts";
import { failureOf, type OutboundRequest, type OutboundResult } from "./request.ts";
import { type ResolveHost, rememberAddresses, resolveHost } from "./resolve-host.ts";

export const CONNECT_MS = 5_000;

/**
 * See S117–S121.
 * @param resolve replaces the machine's name servers, for tests
 */
export async function sendRequest(
  request: OutboundRequest,
  resolve: ResolveHost = request.isConnectionKept ? rememberAddresses : resolveHost,
): Promise<OutboundResult> {
  const deadline = new Deadline(request.deadlineMs, request.connectMs ?? CONNECT_MS);
  const { signal } = deadline;
  let exchange: Exchange | undefined;
  try {
    exchange = await openExchange(request, deadline, resolve);
    const { status, headers, body, isReused, timings } = exchange;
    const kept = await readBody(body, headers, request);
    if (request.isConnectionKept && body.readableEnded) exchange.keep();
    return { outcome: "answered", status, headers, ...kept, isReused, timings: { ...timings, totalMs: deadline.elapsedMs() } };
  } catch (error) {
    // An aborted request fails with a different error in each phase, so the reason of the abort is used.
    return failureOf(signal.aborted ? signal.reason : error).result;
  } finally {
    deadline.clear();
    exchange?.close();
  }
}
