import { isServiceError } from "#core/errors.ts";
import { log } from "#core/log.ts";

/** How long somebody who was let in is believed to be still allowed: as long as in live views. */
const TRUST_MS = 5_000;

/**
 * Asks again, now and then, whether a visit that goes on may go on: a stream and a WebSocket last, and who may see a Space changes.
 * @param mayStay throws a ServiceError or is false where it may not; what else it throws is asked again
 * @returns stops asking
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
