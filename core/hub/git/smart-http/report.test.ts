import { expect, test } from "vitest";
import { bandPackets, FLUSH, pktLine } from "./pkt-line.ts";
import type { Command } from "./read-commands.ts";
import { changedBy, ReceivedOutput } from "./report.ts";

const WARNING = "warning: Deleting a non-existent ref\n";
const gone: Command = { ref: "refs/heads/old", rawRef: "refs/heads/old", oldSha: "1".repeat(40), newSha: null };
const report = bandPackets(1, Buffer.concat([pktLine("unpack ok\n"), pktLine("ok refs/heads/old\n"), FLUSH]));

test.each([
  ["in a message about an object that quotes it", `warning: object 1: badTagName: invalid 'tag' name: ${WARNING}`, false],
  ["alone in a piece of git's output, before refs change", WARNING, false],
  ["while refs change", WARNING, true],
])("S137 git's warning about a deleted branch counts only while refs change: %s", (_, text, isGone) => {
  const output = new ReceivedOutput(() => undefined);
  if (isGone) output.refChangesBegin();
  output.push(bandPackets(2, Buffer.from(text)));
  if (!isGone) output.refChangesBegin();
  output.push(report);
  expect(changedBy(output, [gone])).toHaveLength(isGone ? 0 : 1);
});
