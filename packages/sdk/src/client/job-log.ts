import { z } from "zod";
import type { JobAnswer } from "../jobs.ts";
import { ApiError } from "./api-error.ts";
import { reconnecting } from "./reconnecting.ts";
import type { Transport } from "./transport.ts";

/** A line of a job's log. `timestamp` is ISO 8601 in UTC. */
export type JobLogLine = { timestamp: string; data: string };

const schema = z.object({ timestamp: z.string(), data: z.string() });
const UNDER_WAY = new Set(["SCHEDULING", "RUNNING"]);
/** How many of the lines that came last are looked for in the whole log, where what came began in its middle. */
const REMEMBERED = 20;

/**
 * The stream of a log names no position, but the same log makes the same lines: what has been told is counted, and left out of the next
 * connection. Of one that began with the last few lines it is not known how many there were before; the lines told last are looked for.
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
  let told = 0;
  const latest: string[] = [];

  async function* connect(): AsyncGenerator<JobLogLine> {
    const isAgain = told > 0;
    let left = isAgain && tail === undefined ? told : 0;
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
      told += 1;
      latest.push(data);
      if (latest.length > REMEMBERED) latest.shift();
      yield line;
    }
  }
  return reconnecting(connect, signal, async () => !UNDER_WAY.has((await read()).status.stage));
}

function readLine(data: string): JobLogLine {
  try {
    return schema.parse(JSON.parse(data));
  } catch (cause) {
    throw new ApiError("The log came in a form that is not known. Use an SDK of the service's version.", {
      status: 200,
      code: "unexpected_answer",
      cause,
    });
  }
}
