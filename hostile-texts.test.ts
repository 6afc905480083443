import { expect, test } from "vitest";
import { plainLine } from "./app/_components/jobs/ansi.ts";
import { variablesOf } from "./app/_server/jobs/command-line.ts";
import { endToEnd } from "./core/http/hop-by-hop.ts";
import { parseExistingPath } from "./core/hub/git/write/parse-path.ts";
import { callerHeaders } from "./core/relay/door/answer-headers.ts";
import { maskHeaders } from "./core/webhooks/activity/mask-headers.ts";

/**
 * What reads a text that a stranger sends takes about as long for a hostile one as for plain letters (S137, S138). A pattern that is tried
 * anew at each character takes ten thousand times as long for these: one request would keep the process from everybody else.
 */
const LENGTH = 100_000;
const ROUNDS = 5;
/** A machine that runs tests is never quiet. */
const TIMES_MAX = 50;
const FLOOR_MS = 2;

const reads: Record<string, [hostile: string, read: (text: string) => unknown]> = {
  "slashes in a path": [`a${"/".repeat(LENGTH)}a`, (path) => refused(() => parseExistingPath(path))],
  "a quote that is not closed": [`A="x\n${"b\n".repeat(LENGTH / 2)}`, variablesOf],
  "carriage returns in a log": [`a${"\r".repeat(LENGTH)}x`, plainLine],
  "beginnings of a JWT": ["eyJ-".repeat(LENGTH / 4), (value) => maskHeaders({ "x-a": value }, (text) => text)],
  "spaces in Connection, from a client": [`a${" ".repeat(LENGTH)}b`, (connection) => endToEnd({ connection })],
  "spaces in Connection, from a handler": [
    `a${" ".repeat(LENGTH)}b`,
    (value) => callerHeaders([["connection", value]], { isFromBrowser: false }),
  ],
};

test.each(Object.entries(reads))("%s", (_, [hostile, read]) => {
  const letters = "a".repeat(hostile.length);
  expect(quickest(() => read(hostile))).toBeLessThan(
    TIMES_MAX *
      Math.max(
        quickest(() => read(letters)),
        FLOOR_MS,
      ),
  );
});

/** The collector of garbage comes when it likes: the round that it spared counts. */
function quickest(work: () => unknown): number {
  const took = Array.from({ length: ROUNDS }, () => {
    const start = performance.now();
    work();
    return performance.now() - start;
  });
  return Math.min(...took);
}

function refused(work: () => unknown): void {
  expect(work).toThrow();
}
