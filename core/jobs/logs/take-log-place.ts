import { currentParty } from "../../fair-queue/party.ts";
import { streamPlaces } from "../../http/stream-places.ts";
import { requestContext } from "../../log.ts";

/** Logs of jobs and Spaces, and stages of jobs, that one person may follow at once on one web process, over whichever door. */
export const LOGS_MAX_PER_PERSON = 10;

// On `globalThis`, because each bundle of Next makes its own module instances (ARCHITECTURE.md, Processes).
const keeper = globalThis as typeof globalThis & { keyhookLogPlaces?: ReturnType<typeof streamPlaces> };

/**
 * Takes a place for following a log, for the party of this request, until the answer is over or its client is gone. It is taken before
 * the stream begins, so that whoever gets none can be told.
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
