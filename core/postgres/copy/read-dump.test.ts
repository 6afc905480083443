import { buffer } from "node:stream/consumers";
import { expect, test } from "vitest";
import { DUMP_END } from "./dump-database.ts";
import { readDump } from "./read-dump.ts";

const DUMP = [
  'create table if not exists "day" partition of "days" for values in (1);',
  'copy "empty" ("a") from stdin;',
  "\\.",
  'copy "some ""table""" ("a", "b") from stdin;',
  "1\t\\\\.",
  "\\N\tx\\\\x00",
  "\\.",
  DUMP_END,
  "",
].join("\n");

async function* inPieces(text: string, size: number): AsyncGenerator<Buffer, void, undefined> {
  for (let at = 0; at < text.length; at += size) yield Buffer.from(text.slice(at, at + size));
}

async function read(text: string, size: number): Promise<unknown[]> {
  const parts: unknown[] = [];
  for await (const part of readDump(inPieces(text, size))) {
    if (part.kind === "statement") parts.push(part.text);
    else parts.push([part.table, part.columns, String(await buffer(part.content))]);
  }
  return parts;
}

test("a dump is read in the same parts, wherever its pieces are cut", async () => {
  for (let size = 1; size <= DUMP.length; size++) {
    expect(await read(DUMP, size)).toEqual([
      'create table if not exists "day" partition of "days" for values in (1);',
      ["empty", ["a"], ""],
      ['some "table"', ["a", "b"], "1\t\\\\.\n\\N\tx\\\\x00\n"],
    ]);
  }
});

test("a dump without its end is refused, wherever it is cut off", async () => {
  for (let length = 0; length < DUMP.length - 1; length++)
    await expect(read(DUMP.slice(0, length), 7)).rejects.toThrow(/is incomplete/);
});
