import { performance } from "node:perf_hooks";
import { expect, it } from "vitest";
import { signedInPerson } from "../../accounts/testing/people.ts";
import { pool } from "../../db.ts";
import { someRepo } from "../../hub/testing/repos.ts";
import { newOrderedId } from "../../ids.ts";
import { countStatements } from "../../testing/count-statements.ts";
import { LogWriter } from "./log-writer.ts";
import { readSpaceLog } from "./read-space-log.ts";

const aSpace = async () => (await someRepo(await signedInPerson(), { type: "space", sdk: "node" })).id;

it("S134 a Space that never stops printing costs the database only a few statements a second", async () => {
  const id = await aSpace();
  const writer = await LogWriter.open(id, { party: "ada", secrets: ["a secret value"] });
  let printed = 0;
  const SECONDS = 2;
  const { statements } = await countStatements(async () => {
    for (const end = performance.now() + SECONDS * 1_000; performance.now() < end; ) {
      await writer.output("stdout", Buffer.from(`line ${printed} with a secret value in it\n`.repeat(1_000)));
      printed++;
    }
    await writer.close();
  });
  // Each flush is a statement, and some also delete old pieces.
  expect(statements).toBeLessThan(SECONDS * 5 * 2 + 3);
  const { rows } = await pool().query(
    "select sum(octet_length(text))::int as bytes, max(length(text)) as most from space_log where repo_id = $1",
    [id],
  );
  expect(rows[0].bytes).toBeLessThan(2 * 1024 ** 2);
  expect(rows[0].most).toBeLessThanOrEqual(16 * 1024);
  const text = (await readSpaceLog(id)).map((piece) => piece.text).join("");
  expect(text.endsWith(`line ${printed - 1} with *** in it\n`)).toBe(true);
  expect(printed * 40_000).toBeLessThan(SECONDS * 1.2 * 1024 ** 2);
});

it("S132 only a part of the output of a Space that keeps printing is stored, but always the latest", async () => {
  const id = await aSpace();
  const writer = await LogWriter.open(id, { party: "ada", secrets: [] });
  await writer.output("stdout", Buffer.from(`${"x".repeat(1_000)}\n`.repeat(2_100)));
  const [beforeId, begin] = [newOrderedId(), performance.now()];
  let printed = 0;
  while (performance.now() < begin + 2_000) {
    await writer.output("stdout", Buffer.from(`line ${printed} of many\n`.repeat(1_000)));
    printed++;
  }
  await writer.close();
  const seconds = (performance.now() - begin) / 1_000;
  const { rows } = await pool().query("select text from space_log where repo_id = $1 and id > $2 order by id", [id, beforeId]);
  const text = rows.map((row) => row.text).join("");
  expect(text.length).toBeLessThan((seconds + 3) * 17 * 1024);
  expect(text).toMatch(/^===== .* prints too much\. =====$/m);
  expect(text.endsWith(`line ${printed - 1} of many\n`)).toBe(true);
});

it("the output of a Space that prints little is in its log at once, in order", async () => {
  const id = await aSpace();
  const writer = await LogWriter.open(id, { party: "ada", secrets: [] });
  writer.note("starting");
  const long = "x".repeat(40_000);
  await writer.output("stdout", Buffer.from(`${long}\nsecond\nunfin`));
  await writer.output("stdout", Buffer.from("ished\nlast"));
  await expect.poll(async () => (await readSpaceLog(id)).length).toBeGreaterThan(0);
  await writer.close();
  const pieces = (await readSpaceLog(id)).map(({ text }) => text);
  expect(pieces.join("")).toBe(`===== starting =====\n${long}\nsecond\nunfinished\nlast\n`);
});

it("S134 a Space cannot block the worker's event loop by printing its secrets", async () => {
  const lines = Array.from({ length: 10_000 }, (_, n) => `${(n * 7_919 + 10_000_000).toString(36)}-${n}`);
  const secrets = Array.from({ length: 5 }, (_, at) => lines.slice(at * 2_000, (at + 1) * 2_000).join("\n"));
  const writer = await LogWriter.open(await aSpace(), { party: "ada", secrets });
  // Adjacent secrets become one mask, so there is little to store, and the output never waits for the database.
  const bytes = Buffer.from(lines.slice(0, 5_000).join(""));
  const before = performance.eventLoopUtilization();
  for (const end = performance.now() + 2_000; performance.now() < end; ) await writer.output("stdout", bytes);
  expect(performance.eventLoopUtilization(before).utilization).toBeLessThan(0.5);
  await writer.close();
});
