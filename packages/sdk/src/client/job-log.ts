import { z } from "zod";
import type { JobAnswer } from "../jobs.ts";
import { unexpectedContent } from "./api-error.ts";
import { reconnecting } from "./reconnecting.ts";
import type { Transport } from "./transport.ts";

/** A line of a job's log. `timestamp` is ISO 8601 in UTC. @group Client */
export type JobLogLine = { timestamp: string; data: string };

const schema = z.object({ timestamp: z.string(), data: z.string() });
const UNFINISHED = new Set(["SCHEDULING", "RUNNING"]);
/** How many of the last returned lines are searched for. */
const REMEMBERED = 20;

/**
 * The lines of a log never change. A new connection reads the whole log, and skips the lines that were returned before. With
 * `tail`, the position of these lines is unknown, so the last of them are searched for (decision 059).
 */
export function followJobLog(
  { stream }: Transport,
  options: {
    path: () => Promise<string>;
    read: () => Promise<JobAnswer>;
    tail?: number | undefined;
    signal?: AbortSignal | undefined;
  },
): AsyncIterable<JobLogLine> {
  const { path, read, tail, signal } = options;
  let yielded = 0;
  const latest: string[] = [];

  async function* connect(): AsyncGenerator<JobLogLine> {
    const isAgain = yielded > 0;
    let left = isAgain && tail === undefined ? yielded : 0;
    let sought = isAgain && tail !== undefined ? [...latest] : [];
    const window: string[] = [];
    for await (const { data } of stream(await path(), { signal, query: { tail: isAgain ? undefined : tail } })) {
      const line = readLine(data);
      if (left > 0) {
        left -= 1;
        continue;
      }
      if (sought.length > 0) {
        window.push(data);
        if (window.length > sought.length) window.shift();
        if (window.length === sought.length && window.every((one, at) => one === sought[at])) sought = [];
        continue;
      }
      yielded += 1;
      latest.push(data);
      if (latest.length > REMEMBERED) latest.shift();
      yield line;
    }
  }
  return reconnecting(connect, signal, async () => !UNFINISHED.has((await read()).status.stage));
}

function readLine(data: string): JobLogLine {
  try {
    return schema.parse(JSON.parse(data));
  } catch (cause) {
    throw unexpectedContent(
      "The log has a line that this SDK does not know. Use the SDK version that matches the service.",
      cause,
    );
  }
}
