import { isServiceError } from "../errors.ts";

const KEEP_ALIVE_MS = 15_000;

/**
 * Without these comments, a proxy would close the stream as idle.
 * @param check runs with each comment, and ends the stream with a ServiceError
 */
export async function* withKeepAlive(
  events: AsyncGenerator<string, void, undefined>,
  check: () => Promise<unknown>,
): AsyncGenerator<string, void, undefined> {
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
    // If the generator is still waiting, the request's signal ends the wait.
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
