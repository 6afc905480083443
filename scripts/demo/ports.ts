import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export async function findBusyPort(ports: number[]): Promise<number | undefined> {
  const answers = await Promise.all(ports.map(async (port) => port > 65_535 || (await isAnswering(port))));
  return ports.find((_, at) => answers[at]);
}

/** Connects to the port, because a port may be free on one address and taken on another. */
function isAnswering(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "localhost", autoSelectFamily: true });
    const answer = (isOpen: boolean) => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once("connect", () => answer(true)).once("error", () => answer(false));
  });
}

const PATIENCE_MS = 90_000;
const INTERVAL_MS = 150;

export async function waitForAnswer(url: string, signal: AbortSignal): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (Date.now() < deadline) {
    const answer = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(5_000)]) }).catch(() => undefined);
    await answer?.body?.cancel();
    if (answer?.ok) return;
    await sleep(INTERVAL_MS, undefined, { signal });
  }
  throw new Error(`${url} did not respond within ${PATIENCE_MS / 1000} seconds.`);
}
