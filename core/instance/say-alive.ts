const EVERY_MS = 5_000;

/** Tells the supervisor that this process is ready, and then regularly that its event loop turns (`answerHealth`). */
export function sayAlive(): void {
  process.send?.("ready");
  setInterval(() => process.connected && process.send?.("alive"), EVERY_MS).unref();
}
