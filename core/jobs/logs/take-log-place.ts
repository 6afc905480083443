import { currentParty } from "../../fair-queue/party.ts";
import { streamPlaces } from "../../http/stream-places.ts";
import { requestContext } from "../../log.ts";

/** How many logs of jobs and Spaces, and stages of jobs, one user may follow at once on one web process, over any door. */
export const LOGS_MAX_PER_PERSON = 10;

// On `globalThis`, because each bundle of Next makes its own module instances (ARCHITECTURE.md, Processes).
const keeper = globalThis as typeof globalThis & { keyhookLogPlaces?: ReturnType<typeof streamPlaces> };

/**
 * Takes a slot for following a log, for this request's caller, until the response ends or its client disconnects. It is taken before the
 * stream begins, so that a refusal can still be answered with an error.
 * @throws ServiceError `rate_limited`
 */
export function takeLogPlace(): void {
  const whenClosed = requestContext.getStore()?.whenClosed;
  if (!whenClosed) return;
  keeper.keyhookLogPlaces ??= streamPlaces({
    perPerson: LOGS_MAX_PER_PERSON,
    inAll: 2_000,
    sentence: "You follow too many logs at once. Close one of them, or try again in a while.",
    retryAfterSeconds: 15,
  });
  whenClosed(keeper.keyhookLogPlaces(currentParty().key));
}
