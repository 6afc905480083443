import { setTimeout as sleep } from "node:timers/promises";
import type { EventPayload } from "@keyhook/sdk";
import pg from "pg";
import { describe, expect, test, vi } from "vitest";
import { databaseCodes } from "../database-errors.ts";
import { db } from "../db.ts";
import { databaseUrl } from "../env.ts";
import { sweep } from "../housekeeping/sweep.ts";
import { newId } from "../ids.ts";
import { notify } from "../notifications.ts";
import { asAnotherClient } from "../testing/as-another-client.ts";
import { EVENT_CHANNEL, recordEvent, recordEvents } from "./record-event.ts";

function somePayload(): EventPayload {
  const id = newId();
  const url = { web: "https://hub.example/a/b", api: "https://hub.example/api/models/a/b" };
  const repo = { type: "model", name: "a/b", id, private: true, url, owner: { id: newId() } } as const;
  return { event: { scope: "repo", action: "create" }, repo };
}

const countOf = ({ repo }: EventPayload) => db().event.count({ where: { repoId: repo.id } });

async function heard(work: (soFar: string[]) => Promise<void>): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl() });
  await client.connect();
  const received: string[] = [];
  client.on("notification", ({ payload = "" }) => received.push(payload));
  await client.query(`LISTEN ${EVENT_CHANNEL}`);
  try {
    await work(received);
    const last = newId();
    notify(EVENT_CHANNEL, last);
    await vi.waitFor(() => expect(received).toContain(last));
    return received.filter((payload) => payload !== last);
  } finally {
    await client.end();
  }
}

describe("S122 recording an event", () => {
  test("stores the event with its change, and announces the event after the commit", async () => {
    const payload = somePayload();
    let id = "";
    const received = await heard(async (soFar) => {
      await db().$transaction(async (tx) => {
        id = await recordEvent(tx, { payload, actorId: null });
        expect(await asAnotherClient(() => countOf(payload))).toBe(0);
        await sleep(50);
        expect(soFar).toEqual([]);
      });
      expect(await countOf(payload)).toBe(1);
    });
    expect(await countOf(payload)).toBe(1);
    expect(id).not.toBe("");
    expect(received).toEqual([""]);
  });

  test("is rolled back with its change, without a notification", async () => {
    const payload = somePayload();
    const received = await heard(async () => {
      const change = db().$transaction(async (tx) => {
        await recordEvent(tx, { payload, actorId: null });
        throw new Error("no");
      });
      await expect(change).rejects.toThrow("no");
    });
    expect([received, await countOf(payload)]).toEqual([[], 0]);
  });

  test("refuses a payload that breaks the contract, whatever its TypeScript type", async () => {
    const payload = somePayload();
    for (const broken of [
      { ...payload, event: { scope: "repo", action: "explode" } },
      { ...payload, repo: { ...payload.repo, id: "short" } },
      { ...payload, event: { scope: "repo", action: "move" } },
    ]) {
      await expect(recordEvent(db(), { payload: broken as EventPayload, actorId: null })).rejects.toThrow();
    }
    expect(await countOf(payload)).toBe(0);
  });

  test("sends one notification for a thousand events of one transaction", async () => {
    const payloads = Array.from({ length: 1_000 }, somePayload);
    let ids: string[] = [];
    const received = await heard(async () => {
      ids = await db().$transaction((tx) =>
        recordEvents(
          tx,
          payloads.map((payload) => ({ payload, actorId: null })),
        ),
      );
    });
    expect(received).toEqual([""]);
    expect(await db().event.count({ where: { id: { in: ids } } })).toBe(1_000);
    expect(await recordEvents(db(), [])).toEqual([]);
  });

  test("accepts an event from outside only once, by its source and ID", async () => {
    const event = { payload: somePayload(), actorId: null, from: { source: `urn:${newId()}`, sourceId: "1" } };
    await recordEvent(db(), event);
    await expect(recordEvent(db(), event)).rejects.toSatisfy((error) => databaseCodes(error).includes("23505"));
  });
});

test("S122 events are kept for two days longer than the deliveries that use their body", async () => {
  const [old, recent, untold] = [somePayload(), somePayload(), somePayload()];
  for (const payload of [old, recent, untold]) await recordEvent(db(), { payload, actorId: null });
  const days = (count: number) => new Date(Date.now() - count * 86_400_000);
  await db().event.updateMany({ where: { repoId: old.repo.id }, data: { createdAt: days(32.1), fannedOutAt: days(32.1) } });
  await db().event.updateMany({ where: { repoId: recent.repo.id }, data: { createdAt: days(31.9), fannedOutAt: days(31.9) } });
  await db().event.updateMany({ where: { repoId: untold.repo.id }, data: { createdAt: days(40) } });
  expect(await sweep(new AbortController().signal)).toMatchObject({ event: 1 });
  expect([await countOf(old), await countOf(recent), await countOf(untold)]).toEqual([0, 1, 1]);
});
