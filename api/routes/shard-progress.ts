import { setTimeout as delay } from "node:timers/promises";

/** The lines that clients read (`ShardUploadEvent` of the reference client). */
export type ProgressLine =
  | { type: "result" }
  | { type: "validating"; verified: number; total: number }
  | { type: "error"; message: string; retryable: boolean };

/** A proxy ends a response that is silent for a minute, and the Python client ends one that is silent for two minutes. */
const SILENCE_MAX_MS = 20_000;

/**
 * The lines of a response that lasts as long as the check of a shard.
 * @param describe returns the line for an error after the first line, when the status was already sent
 * @throws what `work` throws before the first line
 */
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
