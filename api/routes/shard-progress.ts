import { setTimeout as delay } from "node:timers/promises";

/** A line has the form of the reference client's `ShardUploadEvent`. */
export type ProgressLine =
  | { type: "result" }
  | { type: "validating"; verified: number; total: number }
  | { type: "error"; message: string; retryable: boolean };

/** Proxies end a response after a minute of silence, and the Python client after two minutes. */
const SILENCE_MAX_MS = 20_000;

/** @param describe returns the line for an error after the first line, when the status was already sent */
export async function* progressOf(
  work: Promise<void>,
  describe: (thrown: Error) => Promise<ProgressLine>,
  silenceMaxMs = SILENCE_MAX_MS,
): AsyncGenerator<ProgressLine, void, undefined> {
  const result: Promise<ProgressLine> = work.then(() => ({ type: "result" }));
  const checking = (): Promise<ProgressLine> =>
    delay(silenceMaxMs, { type: "validating", verified: 0, total: 1 }, { ref: false });
  for (let line = await Promise.race([result, checking()]); ; line = await Promise.race([result.catch(describe), checking()])) {
    yield line;
    if (line.type !== "validating") return;
  }
}
