import { setTimeout as delay } from "node:timers/promises";
import { jobSpecSchema } from "@keyhook/sdk";
import { afterAll, describe, expect, it, vi } from "vitest";
import { signedInPerson } from "../../accounts/testing/people.ts";
import { db, pool } from "../../db.ts";
import { someRepo } from "../../hub/testing/repos.ts";
import { newId } from "../../ids.ts";
import { stopListening } from "../../notifications.ts";
import { appendSpaceLog } from "../../spaces/logs/log-writer.ts";
import { followSpaceLog } from "../../spaces/logs/read-space-log.ts";
import { countStatements } from "../../testing/count-statements.ts";
import { recordEnd } from "../runs/record-run.ts";
import { createRun } from "../runs/request-run.ts";
import { appendLog, LogWriter } from "./log-writer.ts";
import { followLog, followStage, readLogEnd, readWholeLog } from "./read-log.ts";

afterAll(stopListening);

const CLAIM = "a claim";

async function someRun(): Promise<string> {
  const owner = { kind: "user", id: newId() } as const;
  const of = { owner, createdById: owner.id, delegationId: null, initiator: { type: "user", id: owner.id } } as const;
  const id = await createRun(db(), { ...of, spec: jobSpecSchema.parse({ command: ["true"] }), secrets: {} });
  await pool().query("update job_run set stage = 'RUNNING', claim_id = $2 where id = $1", [id, CLAIM]);
  return id;
}

const say = (id: string, ...texts: string[]) =>
  appendLog(
    id,
    CLAIM,
    texts.map((text) => ({ at: new Date(), stream: "stdout", text })),
  );
const end = (id: string) => recordEnd(id, CLAIM, { stage: "COMPLETED", exitCode: 0, message: null });
const later = () => AbortSignal.timeout(30_000);

async function whole(id: string, after = 0, pauseMs = 0) {
  let [text, stage] = ["", ""];
  for await (const news of followLog(id, { after, signal: later() })) {
    text += news.chunks.map((chunk) => chunk.text).join("");
    stage = news.stage;
    await delay(pauseMs);
  }
  return { text, stage };
}

describe("the whole log of a run", () => {
  it("is stored when its writer is closed, even if output is being stored at that moment", async () => {
    const id = await someRun();
    const writer = await LogWriter.open(id, CLAIM, { party: "ada", secrets: [] });
    const slow = await pool().connect();
    let isClosed = false;
    try {
      await slow.query("begin");
      const { rows } = await slow.query("select pg_backend_pid() as pid from job_run where id = $1 for update", [id]);
      await writer.write("stdout", Buffer.from("the last words\n"));
      const waits = "select 1 from pg_stat_activity where $1 = any(pg_blocking_pids(pid))";
      await vi.waitFor(async () => expect((await pool().query(waits, [rows[0].pid])).rowCount).toBe(1), { timeout: 15_000 });
      const closing = writer.close().then(() => {
        isClosed = true;
      });
      await pool().query("select 1");
      expect(isClosed).toBe(false);
      await slow.query("commit");
      await closing;
    } finally {
      slow.release();
    }
    expect((await readLogEnd(id, { lines: 10 })).chunks.map(({ text }) => text)).toEqual(["the last words\n"]);
  });

  it("S114 ends for users who may no longer read it", async () => {
    const id = await someRun();
    for (const name of ["a", "b", "c"]) await say(id, ...Array.from({ length: 400 }, (_, n) => `${name}${n}\n`));
    const read = async (requireStill: () => Promise<unknown>) => {
      const pages: string[] = [];
      for await (const chunks of readWholeLog(id, requireStill)) pages.push(chunks.map(({ text }) => text).join(""));
      return pages;
    };
    expect((await read(async () => undefined)).join("").split("\n")).toHaveLength(1_201);
    const left = [true, false];
    const leaving = read(async () => {
      if (!left.shift()) throw new Error("gone");
    });
    await expect(leaving).rejects.toThrow("gone");
  });
});

const readsSince = (startedAt: number) => 30 + (10 * (performance.now() - startedAt)) / 1_000;

describe("followers of a run", () => {
  it("all get everything, and together query the database as often as one follower", async () => {
    const id = await someRun();
    const lines = Array.from({ length: 40 }, (_, n) => `line ${n}\n`);
    const startedAt = performance.now();
    const { result, statements } = await countStatements(async () => {
      const following = Array.from({ length: 100 }, () => whole(id));
      for (const line of lines) {
        await say(id, line);
        await delay(25);
      }
      await end(id);
      return Promise.all(following);
    });
    expect(new Set(result.map(({ text, stage }) => `${stage} ${text}`))).toEqual(new Set([`COMPLETED ${lines.join("")}`]));
    expect(statements - 41).toBeLessThan(readsSince(startedAt));
  });

  it("get each chunk once, in order, wherever they begin and however slow they are", async () => {
    const id = await someRun();
    const chunk = (n: number) => `${n} ${"x".repeat(9_000)}\n`;
    await say(id, ...Array.from({ length: 60 }, (_, n) => chunk(n)));
    const slow = whole(id, 0, 120);
    const [fast, late] = [whole(id), whole(id, 50)];
    for (let n = 60; n < 100; n++) {
      await say(id, chunk(n));
      await delay(5);
    }
    const beyond = whole(id, 1_000_000);
    await delay(100);
    await say(id, "the last\n");
    await end(id);
    const all = `${Array.from({ length: 100 }, (_, n) => chunk(n)).join("")}the last\n`;
    expect((await fast).text === all).toBe(true);
    expect((await slow).text === all).toBe(true);
    expect((await late).text === all.slice(all.indexOf(chunk(50)))).toBe(true);
    expect(await beyond).toMatchObject({ stage: "COMPLETED" });
    expect(await whole(id, 100)).toEqual({ text: "the last\n", stage: "COMPLETED" });
  });

  it("read a long log one page at a time, and end with the log", async () => {
    const id = await someRun();
    await say(id, ...Array.from({ length: 40 }, () => "y".repeat(32_000)));
    await end(id);
    const pages: number[] = [];
    for await (const { chunks } of followLog(id, { signal: later() })) pages.push(chunks.length);
    expect(pages.reduce((sum, length) => sum + length, 0)).toBe(40);
    expect(Math.max(...pages)).toBeLessThan(12);
  });

  it("get each stage of the run, and leave when they are aborted", async () => {
    const id = await someRun();
    const stages: string[] = [];
    const following = (async () => {
      for await (const stage of followStage(id, later())) stages.push(stage);
    })();
    const leaving = new AbortController();
    const left = (async () => {
      for await (const _ of followLog(id, { signal: leaving.signal }));
    })();
    await vi.waitFor(() => expect(stages).toEqual(["RUNNING"]));
    leaving.abort();
    await left;
    await end(id);
    await following;
    expect(stages).toEqual(["RUNNING", "COMPLETED"]);
  });
});

it("S137 the end of a log contains only the last lines, even if these consist only of line breaks", async () => {
  const id = await someRun();
  await say(id, ...Array.from({ length: 40 }, () => "\n".repeat(32_000)), "third\nsec", "ond\n", "unfinished");
  const end = async (lines: number) => {
    const { chunks, isCut } = await readLogEnd(id, { lines });
    return { text: chunks.map(({ text }) => text).join(""), isCut };
  };
  expect(await end(2)).toEqual({ text: "third\nsecond\nunfinished", isCut: true });
  expect(await end(4)).toEqual({ text: "\n\nthird\nsecond\nunfinished", isCut: true });
  expect((await end(10_000_000)).text.length).toBeLessThan(1.1 * 1024 ** 2);
  const short = await someRun();
  await say(short, "one\n", "two\n");
  expect((await readLogEnd(short, { lines: 2 })).isCut).toBe(false);
  expect(await readLogEnd(short, { lines: 1 })).toMatchObject({ chunks: [{ seq: 2, text: "two\n" }], isCut: true });
});

it("followers of a Space's log together query the database as often as one follower", async () => {
  const { id } = await someRepo(await signedInPerson(), { type: "space", sdk: "node" });
  await appendSpaceLog(id, "before\n");
  const lines = Array.from({ length: 20 }, (_, n) => `line ${n}\n`);
  const leaving = new AbortController();
  const startedAt = performance.now();
  const { result, statements } = await countStatements(async () => {
    const following = Array.from({ length: 100 }, async () => {
      let text = "";
      for await (const pieces of followSpaceLog(id, leaving.signal)) {
        text += pieces.map((piece) => piece.text).join("");
        if (text.endsWith("line 19\n")) break;
      }
      return text;
    });
    for (const line of lines) {
      await appendSpaceLog(id, line);
      await delay(25);
    }
    return Promise.all(following);
  });
  leaving.abort();
  expect(new Set(result)).toEqual(new Set([`before\n${lines.join("")}`]));
  expect(statements - lines.length).toBeLessThan(readsSince(startedAt));
});
