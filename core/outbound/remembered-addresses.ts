import { OutboundFailure } from "./request.ts";
import { type FoundAddresses, findAddresses } from "./resolve-host.ts";

/** Applies however long a TTL the name server gives. */
const REMEMBERED_MAX_MS = 5_000;
const NAMES_MAX = 1_000;
/** For a lookup that several requests wait for; each of them also has its own deadline. */
const LOOKUP_MS = 5_000;

type Remembered = { until: number; found: Promise<FoundAddresses> };
const remembered = new Map<string, Remembered>();

/**
 * Like `resolveHost`, for many requests to few hosts: an answer is reused for its TTL, at most five seconds, and a name that is
 * being looked up is not looked up twice. Reused addresses are vetted and dialled like fresh ones (S117).
 */
export async function rememberAddresses(
  host: string,
  signal: AbortSignal,
  find: typeof findAddresses = findAddresses,
): Promise<string[]> {
  let entry = remembered.get(host);
  if (!entry || entry.until <= performance.now()) {
    entry = lookUp(host, find);
    remembered.delete(host);
    remembered.set(host, entry);
    const [first] = remembered.keys();
    if (remembered.size > NAMES_MAX && first !== undefined) remembered.delete(first);
  }
  return (await unlessAborted(entry.found, signal)).addresses;
}

function lookUp(host: string, find: typeof findAddresses): Remembered {
  const clock = new AbortController();
  // The reason may be shown to the user: a request that joined the lookup later has time left, and gets this error unchanged.
  const timer = setTimeout(() => clock.abort(OutboundFailure.timedOut("no name server answered in time")), LOOKUP_MS);
  const entry: Remembered = { until: performance.now() + LOOKUP_MS, found: find(host, clock.signal) };
  entry.found.then(
    ({ seconds }) => {
      clearTimeout(timer);
      entry.until = performance.now() + Math.min(seconds * 1_000, REMEMBERED_MAX_MS);
    },
    // A failure is not remembered: only those who waited get it.
    () => {
      clearTimeout(timer);
      entry.until = 0;
    },
  );
  return entry;
}

async function unlessAborted<T>(waiting: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let abort: () => void = () => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort);
  });
  try {
    return await Promise.race([waiting, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
