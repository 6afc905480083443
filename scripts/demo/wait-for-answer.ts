import { setTimeout as sleep } from "node:timers/promises";

const PATIENCE_MS = 90_000;
const INTERVAL_MS = 150;

/** Resolves when `url` answers 200; throws when it does not for a minute and a half, or when `signal` says to give up. */
export async function waitForAnswer(url: string, signal: AbortSignal): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (Date.now() < deadline) {
    const answer = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(5_000)]) }).catch(() => undefined);
    await answer?.body?.cancel();
    if (answer?.ok) return;
    await sleep(INTERVAL_MS, undefined, { signal });
  }
  throw new Error(`${url} did not answer within ${PATIENCE_MS / 1000} seconds.`);
}
