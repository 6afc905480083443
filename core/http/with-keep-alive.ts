import { isServiceError } from "../errors.ts";

const KEEP_ALIVE_MS = 15_000;

type Options = {
  /** The request's signal. It does not abort if the response ends first. */
  signal: AbortSignal;
  /** Runs with each comment, and ends the stream with a ServiceError. */
  check: () => Promise<unknown>;
};

/**
 * Without these comments, a proxy would close the stream as idle.
 * @param begin gets a signal that aborts at the end of the stream, so that nothing waits for further events (S137)
 */
export async function* withKeepAlive(
  begin: (signal: AbortSignal) => AsyncGenerator<string, void, undefined>,
  { signal, check }: Options,
): AsyncGenerator<string, void, undefined> {
  const ending = new AbortController();
  const events = begin(AbortSignal.any([signal, ending.signal]));
  let next = events.next();
  let checkedAt = performance.now();
  try {
    for (;;) {
      let timer: NodeJS.Timeout | undefined;
      const quiet = new Promise<"quiet">((resolve) => {
        timer = setTimeout(() => resolve("quiet"), KEEP_ALIVE_MS);
      });
      const event = await Promise.race([next, quiet]).finally(() => clearTimeout(timer));
      // A stream that is never quiet is checked at the same interval.
      if (performance.now() - checkedAt >= KEEP_ALIVE_MS) {
        if (!(await mayContinue(check))) return;
        checkedAt = performance.now();
      }
      if (event === "quiet") {
        yield ": keep-alive\n\n";
        continue;
      }
      if (event.done) return;
      yield event.value;
      next = events.next();
    }
  } finally {
    ending.abort();
    void events.return().catch(() => undefined);
  }
}

async function mayContinue(check: () => Promise<unknown>): Promise<boolean> {
  try {
    await check();
    return true;
  } catch (error) {
    if (isServiceError(error)) return false;
    throw error;
  }
}
