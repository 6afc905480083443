import { isServiceError } from "#core/errors.ts";
import { log } from "#core/log.ts";

/** How long an admitted visitor counts as still allowed: as long as in live views. */
const TRUST_MS = 5_000;

/**
 * Checks again, now and then, whether a continuing visit is still allowed: streams and WebSockets last, and access to a Space changes.
 * @param mayStay throws a ServiceError or returns false if not; after any other error it is called again
 * @returns stops checking
 */
export function keepAsking(mayStay: () => Promise<boolean>, end: () => void, trustMs = TRUST_MS): () => void {
  let isOver = false;
  let timer: NodeJS.Timeout;
  async function ask(): Promise<void> {
    const isAllowed = await mayStay().catch((error: unknown) => {
      if (isServiceError(error)) return false;
      log().warn({ err: error }, "who visits a Space cannot be asked; trying again");
      return true;
    });
    if (isOver) return;
    if (isAllowed) askLater();
    else end();
  }
  const askLater = () => {
    timer = setTimeout(() => void ask(), trustMs).unref();
  };
  askLater();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
