import { randomBytes } from "node:crypto";
import { globSync } from "node:fs";
import { utimes } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { operatorCommand } from "../access/actor.ts";
import { auditTrail, freshName, from, organizationOf, signedInPerson, type TestPerson } from "../accounts/testing/people.ts";
import { db, pool } from "../db.ts";
import { provideSettings } from "../env.ts";
import { Prisma } from "../generated/prisma/client.ts";
import { tidy } from "../hub/git/maintenance/maintain-repository.ts";
import { openRepository } from "../hub/git/repository.ts";
import { runGit } from "../hub/git/run-git.ts";
import { deleteAccount } from "../hub/owners/delete-owner.ts";
import { deleteRepo } from "../hub/repos/change-repo.ts";
import { moveRepo } from "../hub/repos/move-repo.ts";
import { FILES_AT_A_TIME } from "../hub/repos/remove-contributions.ts";
import type { Repo } from "../hub/repos/repo.ts";
import { commitTo, someRepo } from "../hub/testing/repos.ts";
import { newId, newOrderedId } from "../ids.ts";
import { answerRequest } from "../relay/inbox/answer-request.ts";
import { takeRequest } from "../relay/inbox/take-request.ts";
import { asOwner } from "../testing/as-owner.ts";
import { ANNOUNCED_MAX, holdAnnounced, holdStorage, holdUploads, requireRoom, roomOf } from "./hold-storage.ts";
import { ATTEMPT_BYTES, REPOSITORY_BYTES } from "./limits.ts";
import { makeRoom, recountStorage } from "./make-room.ts";
import { findStoringOwner, listStoringOwners, parseQuota, setStorageQuota } from "./manage-quotas.ts";
import { readStorageUsage } from "./read-usage.ts";

const MB = 1_000_000;
const never = new AbortController().signal;
const ownerOf = ({ id, username }: TestPerson) => ({ kind: "user", id, handle: username }) as const;
const usage = (person: TestPerson) => readStorageUsage(operatorCommand, ownerOf(person));
const bytesOf = async (person: TestPerson) => (await usage(person)).bytes;

async function lfsObject(repo: { id: string }, bytes: number): Promise<void> {
  await db().lfsObject.create({ data: { repoId: repo.id, oid: newId(), sizeBytes: bytes, location: `local:${newId()}` } });
}

async function withSettings(settings: Record<string, string>, act: () => Promise<void>): Promise<void> {
  const standard = { STORAGE_LOGS_MB: "1000", STORAGE_ATTEMPTS_MB: "1000", STORAGE_RELAY_MB: "256" };
  provideSettings(settings);
  try {
    await act();
  } finally {
    provideSettings(standard);
  }
}

describe("stored data that is counted", () => {
  test("is git and Git LFS data by repository, so that an object in two repositories counts twice", async () => {
    const [ada, bea] = [await signedInPerson(), await signedInPerson("bea")];
    const [one, two] = [await someRepo(ada), await someRepo(ada)];
    await commitTo(one, ada, { "a.bin": randomBytes(MB) });
    const { git } = await bytesOf(ada);
    expect(git).toBeGreaterThan(MB);
    const object = { oid: "c".repeat(64), sizeBytes: 5 * MB, location: "local:c" };
    for (const { id } of [one, two]) await db().lfsObject.create({ data: { repoId: id, ...object } });
    expect(await bytesOf(ada)).toMatchObject({ git, lfs: 10 * MB });
    const { largest } = await usage(ada);
    expect(largest.map(({ name, lfsBytes }) => [name, lfsBytes])).toEqual([
      [one.name, 5 * MB],
      [two.name, 5 * MB],
    ]);
    expect(largest.reduce((sum, { gitBytes }) => sum + gitBytes, 0)).toBe(git);
    const organization = await organizationOf(bea, [[ada, "write"]]);
    await moveRepo(
      ada.actor,
      { type: "model", owner: ada.username, name: one.name },
      { owner: organization.name, name: "moved" },
      from,
    );
    expect(await bytesOf(ada)).toMatchObject({ git: REPOSITORY_BYTES, lfs: 5 * MB });
    const theirs = await readStorageUsage(operatorCommand, {
      kind: "organization",
      id: organization.id,
      handle: organization.name,
    });
    expect(theirs.bytes).toMatchObject({ git: git - REPOSITORY_BYTES, lfs: 5 * MB });
  });

  test("S137 includes the folder of an empty repository and the card", async () => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada);
    expect((await bytesOf(ada)).git).toBe(REPOSITORY_BYTES);
    await db().repo.update({ where: { id: repo.id }, data: { card: { text: "x".repeat(9_988) } } });
    expect((await bytesOf(ada)).git).toBe(REPOSITORY_BYTES + 10_000);
    expect(await recountStorage()).toBe(0);
    await db().storageQuota.create({ data: { ownerId: ada.id, bytes: BigInt(2 * REPOSITORY_BYTES) } });
    await expect(someRepo(ada)).rejects.toMatchObject({ code: "storage_full" });
    await deleteRepo(ada.actor, { type: "model", owner: ada.username, name: repo.name }, from);
    expect((await bytesOf(ada)).git).toBe(0);
    await someRepo(ada);
  });

  test("includes objects that a forced push left behind until git has collected them", async () => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada);
    await commitTo(repo, ada, { "a.bin": randomBytes(2 * MB) });
    const path = await openRepository(repo);
    await runGit(path, ["update-ref", "-d", "refs/heads/main"]);
    expect((await bytesOf(ada)).git).toBeGreaterThan(2 * MB);
    const longAgo = new Date(Date.now() - 30 * 24 * 3_600_000);
    for (const file of globSync(join(path, "objects/**/*"))) await utimes(file, longAgo, longAgo);
    await utimes(join(path, "config"), longAgo, longAgo);
    await commitTo(repo, ada, { "b.txt": "b" });
    await tidy(path);
    await commitTo(repo, ada, { "b.txt": "c" });
    expect((await bytesOf(ada)).git).toBeLessThan(MB);
  });

  test("S137 includes at least 5,000 bytes for each large file", async () => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada);
    for (const size of [0, 1, 4_999, 5_000, 5_001]) await lfsObject(repo, size);
    expect((await bytesOf(ada)).lfs).toBe(4 * 5_000 + 5_001);
    expect(await recountStorage()).toBe(0);
    await db().repo.update({ where: { id: repo.id }, data: { lfsBytes: 15_001 } });
    expect(await recountStorage()).toBeGreaterThan(0);
    expect((await bytesOf(ada)).lfs).toBe(4 * 5_000 + 5_001);
    await db().lfsObject.deleteMany({ where: { repoId: repo.id } });
    expect((await bytesOf(ada)).lfs).toBe(0);
  });

  test("S137 changes once for each repository if one statement adds, copies or removes files", async () => {
    const ada = await signedInPerson();
    const [one, two] = [await someRepo(ada), await someRepo(ada)];
    const sums = async () => [
      ...(await Promise.all(
        [one, two].map(async ({ id }) => Number((await db().repo.findUniqueOrThrow({ where: { id } })).lfsBytes)),
      )),
      (await bytesOf(ada)).lfs,
    ];
    const changedRepos = (statement: Prisma.Sql) =>
      db().$transaction(async (tx) => {
        const changes = async () => {
          const [row] = await tx.$queryRaw<{ changed: number }[]>`
            SELECT n_tup_upd::int AS changed FROM pg_stat_xact_user_tables WHERE relname = 'repo'`;
          return row?.changed ?? 0;
        };
        const before = await changes();
        await tx.$executeRaw(statement);
        return (await changes()) - before;
      });
    const add = Prisma.sql`INSERT INTO lfs_object (repo_id, oid, size_bytes, location)
      SELECT ${one.id}, n::text, CASE WHEN n <= 3 THEN 6000 ELSE 1 END, CASE WHEN n > 9 THEN 'xet:' ELSE ${one.id} END || n
        FROM generate_series(1, 10) n`;
    expect(await changedRepos(add)).toBe(1);
    expect(await sums()).toEqual([48_000, 0, 48_000]);
    const copy = Prisma.sql`INSERT INTO lfs_object (repo_id, oid, size_bytes, location)
      SELECT ${two.id}, oid, size_bytes, location FROM lfs_object WHERE repo_id = ${one.id}`;
    expect(await changedRepos(copy)).toBe(1);
    expect(await sums()).toEqual([48_000, 48_000, 96_000]);
    const remove = Prisma.sql`DELETE FROM lfs_object WHERE repo_id IN (${one.id}, ${two.id}) AND oid IN ('1', '4', '10')`;
    expect(await changedRepos(remove)).toBe(2);
    expect(await sums()).toEqual([37_000, 37_000, 74_000]);
    expect(await db().lfsLeftover.findMany({ select: { location: true }, where: { location: { startsWith: one.id } } })).toEqual([
      { location: `${one.id}1` },
      { location: `${one.id}4` },
    ]);
    await db().repo.delete({ where: { id: two.id } });
    expect((await bytesOf(ada)).lfs).toBe(37_000);
    expect(await db().lfsLeftover.count({ where: { location: { startsWith: one.id } } })).toBe(9);
    expect(await recountStorage()).toBe(0);
  });

  test("has no count left once the account is deleted", async () => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada);
    await commitTo(repo, ada, { "a.txt": "a" });
    await lfsObject(repo, 7);
    const relayId = await relayOf(ada);
    await takeRequest(relayId, { method: "POST", path: "/", headers: [], body: randomBytes(1_000) });
    expect((await bytesOf(ada)).relay).toBeGreaterThan(1_000);
    await db().storageQuota.create({ data: { ownerId: ada.id, bytes: 1n } });
    await deleteAccount(ada.actor, ada.id, from);
    expect(await db().storageUse.count({ where: { ownerId: ada.id, bytes: { gt: 0 } } })).toBe(0);
    expect(await db().storageQuota.count({ where: { ownerId: ada.id } })).toBe(0);
  });

  test("has a wrong count corrected, even while uploads change the count", async () => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada);
    await lfsObject(repo, 100);
    await db().storageUse.updateMany({ where: { ownerId: ada.id }, data: { bytes: 5 } });
    await db().storageUse.create({ data: { ownerId: ada.id, kind: "logs", bytes: 9 } });
    await db().storageUse.create({ data: { ownerId: newId(), kind: "git", bytes: 9 } });
    await db().repo.update({ where: { id: repo.id }, data: { lfsBytes: 3 } });
    await Promise.all([recountStorage(), ...Array.from({ length: 20 }, () => lfsObject(repo, 10))]);
    await recountStorage();
    expect(await bytesOf(ada)).toMatchObject({ lfs: 21 * 5_000, logs: 0 });
    expect(await recountStorage()).toBe(0);
  });
});

describe("room", () => {
  test("that is reserved is not available to others until it is released or its process ends", async () => {
    const ada = await signedInPerson();
    const owner = ownerOf(ada);
    await setStorageQuota(operatorCommand, ada.username, "10 MB", from);
    expect(await roomOf(owner)).toBe(10 * MB);
    const tried = await Promise.allSettled(Array.from({ length: 8 }, () => holdStorage(owner, 3 * MB, "this file")));
    const held = tried.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    expect(held.length).toBe(3);
    expect(await roomOf(owner)).toBe(MB);
    await expect(requireRoom(owner, 2 * MB, "this file")).rejects.toMatchObject({
      code: "storage_full",
      status: 507,
      message: expect.stringContaining("with 9 MB more being uploaded"),
    });
    await held[0]?.release();
    expect(await roomOf(owner)).toBe(4 * MB);
    await pool().query("update storage_hold set expires_at = now() where owner_id = $1", [ada.id]);
    expect(await roomOf(owner)).toBe(10 * MB);
  });

  test("that is reserved for an upload stays reserved while its URL is valid, even after a smaller request", async () => {
    const ada = await signedInPerson();
    const owner = ownerOf(ada);
    await setStorageQuota(operatorCommand, ada.username, "10 MB", from);
    const ask = (id: string, bytes: number, seconds = 600) =>
      holdUploads(owner, [{ id: `${ada.id} ${id}`, bytes }], { seconds, what: "this file" });
    await ask("x", 8 * MB);
    await ask("x", 1, 1);
    await ask("x", 8 * MB, 1);
    expect(await roomOf(owner)).toBe(2 * MB);
    await expect(ask("y", 8 * MB)).rejects.toMatchObject({ code: "storage_full" });
    const [hold] = await db().storageHold.findMany({ where: { ownerId: ada.id } });
    expect(hold?.expiresAt.getTime()).toBeGreaterThan(Date.now() + 300_000);
    await pool().query("update storage_hold set expires_at = now() where owner_id = $1", [ada.id]);
    await ask("x", 1);
    expect(await roomOf(owner)).toBe(10 * MB - 1);
  });

  test("S137 can be reserved for at most 20,000 uploads to a bucket at a time, also without a quota", async () => {
    const ada = await signedInPerson();
    const owner = ownerOf(ada);
    await setStorageQuota(operatorCommand, ada.username, "none", from);
    const announce = (names: readonly string[]) =>
      holdAnnounced(
        owner,
        names.map((name) => ({ id: `${ada.id} ${name}`, bytes: MB })),
        { seconds: 600, what: "these files" },
      );
    const names = Array.from({ length: ANNOUNCED_MAX - 1 }, (_, at) => `${at}`);
    await announce(names);
    await announce(names.slice(0, 2));
    const refusal = { code: "storage_full", message: expect.stringContaining("At most 20,000 large files") };
    await expect(announce(["new", "other"])).rejects.toMatchObject(refusal);
    const both = await Promise.allSettled(["new", "other"].map((name) => announce([name])));
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    await (await holdStorage(owner, MB, "this file")).release();
    expect(await db().storageHold.count({ where: { ownerId: ada.id } })).toBe(ANNOUNCED_MAX);
    await pool().query("update storage_hold set expires_at = now() where owner_id = $1", [ada.id]);
    await announce(["new", "other"]);
    await pool().query("delete from storage_hold where owner_id = $1", [ada.id]);
  });

  test("is free as soon as files are deleted, up to an amount that does not fill the disk", async () => {
    const ada = await signedInPerson();
    await setStorageQuota(operatorCommand, ada.username, "10 MB", from);
    for (let round = 0; round < 2; round++) {
      const repo = await someRepo(ada);
      await requireRoom(ownerOf(ada), 8 * MB, "this file");
      await lfsObject(repo, 8 * MB);
      await db().repo.delete({ where: { id: repo.id } });
    }
    await expect(requireRoom(ownerOf(ada), 8 * MB, "this file")).rejects.toThrow(
      "16.1 MB of deleted files are still being removed",
    );
    expect(await roomOf(ownerOf(ada))).toBe(4 * MB - 2 * REPOSITORY_BYTES);
  });

  test("S137 of thousands of files that are deleted in portions stays counted until the files are gone", async () => {
    const ada = await signedInPerson();
    const repos = [await someRepo(ada), await someRepo(ada)];
    for (const { id } of repos)
      await db().$executeRaw`INSERT INTO lfs_object (repo_id, oid, size_bytes, location)
        SELECT ${id}, n::text, 5000, ${id} || n FROM generate_series(1, ${2 * FILES_AT_A_TIME + 1}) n`;
    const [one] = repos as [Repo, Repo];
    const removed = async () =>
      (await db().storageHold.findMany({ where: { ownerId: ada.id, isRemoved: true } })).map(({ bytes }) => Number(bytes));
    const portion = 5_000 * FILES_AT_A_TIME;
    await deleteRepo(ada.actor, { type: one.type, owner: ada.username, name: one.name }, from);
    expect((await removed()).sort((a, b) => a - b)).toEqual([5_000 + REPOSITORY_BYTES, portion, portion]);
    expect((await bytesOf(ada)).lfs).toBe(2 * portion + 5_000);
    await deleteAccount(ada.actor, ada.id, from);
    expect(await db().lfsObject.count({ where: { repoId: { in: repos.map(({ id }) => id) } } })).toBe(0);
    expect((await removed()).length).toBe(6);
  });

  test("S137 of files whose chunks are known counts once, even if the files are deleted in portions", async () => {
    const ada = await signedInPerson();
    const { id, type, name } = await someRepo(ada);
    await db().$executeRaw`INSERT INTO lfs_object (repo_id, oid, size_bytes, location)
      SELECT ${id}, n::text, 100000, ${id} || n FROM generate_series(1, ${FILES_AT_A_TIME + 1}) n`;
    await db().$executeRaw`INSERT INTO xet_xorb (repo_id, hash, location, has_headers, starts_at, size_bytes, chunks, is_named)
      SELECT ${id}, n::text, ${id} || n, false, 0, 0, decode(repeat('00', 36) || 'a0860100', 'hex'), true
        FROM generate_series(1, ${FILES_AT_A_TIME + 1}) n`;
    // Without statistics, PostgreSQL looks for each file in all xorbs.
    await asOwner("analyze lfs_object, xet_xorb");
    const { lfs } = await bytesOf(ada);
    await deleteRepo(ada.actor, { type, owner: ada.username, name }, from);
    const { _sum } = await db().storageHold.aggregate({ where: { ownerId: ada.id, isRemoved: true }, _sum: { bytes: true } });
    expect(Number(_sum.bytes)).toBe(lfs + REPOSITORY_BYTES);
  });
});

const relayOf = async (person: TestPerson): Promise<string> => {
  const id = newId();
  const token = { tokenHash: newId(), token: Buffer.from("x") };
  await db().relay.create({
    data: { id, userId: person.id, name: freshName("relay"), ...token, expiresAt: new Date(Date.now() + 3_600_000) },
  });
  return id;
};

describe("records", () => {
  test("all relays of one user together keep a limited amount", async () => {
    const ada = await signedInPerson();
    const relays = await Promise.all([relayOf(ada), relayOf(ada), relayOf(ada)]);
    await withSettings({ STORAGE_RELAY_MB: "3" }, async () => {
      const request = { method: "POST", path: "/", headers: [], body: randomBytes(MB - 10_000) };
      const taken = await Promise.all([...relays, ...relays].map((id) => takeRequest(id, request)));
      // The first requests of a user have no row to lock, so more than three may be accepted.
      expect(taken.filter(Boolean).length).toBeGreaterThanOrEqual(3);
      expect(await takeRequest(relays[0] as string, request)).toBeUndefined();
      await pool().query("delete from relay_request where relay_id = any ($1)", [relays]);
      expect((await bytesOf(ada)).relay).toBe(0);
      expect(await takeRequest(relays[0] as string, request)).toBeDefined();
    });
  });

  test("S141 the answer to a delivery is kept only as far as its attempt shows it", async () => {
    const ada = await signedInPerson();
    const id = await relayOf(ada);
    const { name } = await db().relay.findUniqueOrThrow({ where: { id } });
    const answer = async (bytes: number) => {
      const delivery = { id: newId(), tries: 0 };
      const taken = await takeRequest(id, { method: "POST", path: "/", headers: [], body: Buffer.alloc(10), delivery });
      const headers = [["X-Long", "x".repeat(30_000)]] as const;
      const given = { status: 200, headers, body: randomBytes(bytes) };
      await answerRequest(ada.actor, { userId: ada.id, name, requestId: taken?.id ?? "" }, given);
      const { answerBody } = await db().relayRequest.findFirstOrThrow({ where: { deliveryId: delivery.id } });
      return answerBody?.length;
    };
    expect(await answer(8 * 1024 * 1024)).toBe(64 * 1024 + 1);
    expect(await answer(5)).toBe(5);
    const { relay } = await bytesOf(ada);
    expect(relay).toBeGreaterThan(120_000);
    expect(relay).toBeLessThan(140_000);
    await withSettings({ STORAGE_RELAY_MB: "1" }, async () => {
      for (let count = 0; count < 12; count++) await answer(MB);
      expect((await bytesOf(ada)).relay).toBeLessThan(MB);
      expect(await answer(MB)).toBe(0);
    });
    await pool().query("delete from relay_request where relay_id = $1", [id]);
    expect((await bytesOf(ada)).relay).toBe(0);
  });

  test("the oldest logs of finished runs are deleted, and the runs say so", async () => {
    const ada = await signedInPerson();
    const runs: string[] = [];
    for (const isOver of [true, true, false]) {
      const id = newOrderedId();
      runs.push(id);
      await db().jobRun.create({
        data: {
          id,
          ownerId: ada.id,
          ownerKind: "user",
          initiator: {},
          spec: {},
          stage: isOver ? "COMPLETED" : "RUNNING",
          finishedAt: isOver ? new Date() : null,
          log: { create: { seq: 1, at: new Date(), stream: "stdout", text: "x" } },
        },
      });
      await db().jobRun.update({ where: { id }, data: { logBytes: MB } });
    }
    const specs = 3 * "{}".length;
    expect((await bytesOf(ada)).logs).toBe(3 * MB + specs);
    await withSettings({ STORAGE_LOGS_MB: "2" }, () => makeRoom(never));
    expect((await bytesOf(ada)).logs).toBe(MB + specs);
    const logs = await db().jobLog.findMany({ where: { runId: { in: runs } }, orderBy: { runId: "asc" } });
    expect(logs.map(({ stream }) => stream)).toEqual(["system", "system", "stdout"]);
    expect(logs[0]?.text).toBe(
      "The output was deleted: an account can store at most 2 MB of logs, and the oldest are deleted first.\n",
    );
    await withSettings({ STORAGE_LOGS_MB: "1" }, () => makeRoom(never));
    expect((await bytesOf(ada)).logs).toBe(MB + specs);
  });

  test("S137 the input of jobs counts with their logs, and the oldest finished jobs are deleted", async () => {
    const ada = await signedInPerson();
    const spec = { command: ["true"], environment: { A: "x".repeat(100_000) } };
    const common = { ownerId: ada.id, ownerKind: "user", initiator: {}, spec };
    const over = { ...common, stage: "CANCELED", finishedAt: new Date() };
    const ids = Array.from({ length: 70 }, () => newOrderedId());
    const [open, awaited, ...others] = ids as [string, string, ...string[]];
    const deliveryId = newId();
    await db().jobRun.createMany({
      data: [
        { ...common, id: open, stage: "SCHEDULING" },
        { ...over, id: awaited, deliveryId, deliveryTry: 1 },
        ...others.map((id) => ({ ...over, id, secrets: Buffer.alloc(1_000) })),
      ],
    });
    const queued = { webhookId: newId(), ownerId: ada.id, eventId: newId(), host: "", kind: "first", lane: 0 };
    await db().deliveryQueue.create({ data: { id: deliveryId, ...queued } });
    const { logs } = await bytesOf(ada);
    expect(logs).toBeGreaterThan(70 * 100_000 + 68 * 1_000);
    await withSettings({ STORAGE_LOGS_MB: "2" }, () => makeRoom(never));
    const left = (await db().jobRun.findMany({ where: { ownerId: ada.id }, orderBy: { id: "asc" } })).map(({ id }) => id);
    expect(left).toEqual([open, awaited, ...others.slice(-(left.length - 2))]);
    expect((await bytesOf(ada)).logs).toBeLessThanOrEqual(1.8 * MB);
    expect(left.length).toBeGreaterThan(15);
    await pool().query("update storage_use set bytes = 1 where owner_id = $1 and kind = 'logs'", [ada.id]);
    expect(await recountStorage()).toBe(1);
    expect((await bytesOf(ada)).logs).toBeGreaterThan(1.6 * MB);
    await db().deliveryQueue.delete({ where: { id: deliveryId } });
  });

  test("the oldest responses to webhooks are deleted first, and those to unfinished deliveries last", async () => {
    const ada = await signedInPerson();
    const dayMs = 24 * 3_600_000;
    const made: string[] = [];
    for (const [daysAgo, isOpen] of [
      [2, true],
      [2, false],
      [1, false],
      [0, false],
    ] as const) {
      const at = new Date(Date.now() - daysAgo * dayMs);
      const [id, deliveryId, webhookId] = [newOrderedId(at.getTime()), newOrderedId(at.getTime()), newId()];
      const row = {
        id,
        deliveryId,
        webhookId,
        ownerId: ada.id,
        number: 1,
        kind: "first",
        startedAt: at,
        outcome: "rejected",
        totalMs: 1,
      };
      await db().attempt.create({ data: { ...row, status: 500, responseHeaders: {}, responseBody: randomBytes(MB - 2) } });
      const part = at.toISOString().slice(0, 10);
      const key = { ownerId: ada.id, kind: "attempts", part };
      await db().storageUse.upsert({
        where: { ownerId_kind_part: key },
        create: { ...key, bytes: MB },
        update: { bytes: { increment: MB } },
      });
      if (isOpen)
        await db().deliveryQueue.create({
          data: { id: deliveryId, webhookId, ownerId: ada.id, eventId: newId(), host: "", kind: "retry", lane: 1 },
        });
      made.push(id);
    }
    await withSettings({ STORAGE_ATTEMPTS_MB: "3" }, () => makeRoom(never));
    const rows = await db().attempt.findMany({ where: { id: { in: made } }, orderBy: { id: "asc" } });
    const kept = new Map(rows.map((row) => [row.id, row.responseBody !== null]));
    expect(made.map((id) => kept.get(id))).toEqual([true, false, false, true]);
    expect(rows.every(({ status }) => status === 500)).toBe(true);
    expect((await bytesOf(ada)).attempts).toBe(2 * MB);
    await db().storageUse.updateMany({ where: { ownerId: ada.id, kind: "attempts" }, data: { bytes: 5 } });
    await recountStorage();
    expect((await bytesOf(ada)).attempts).toBe(5 + ATTEMPT_BYTES + 5);
  });

  test("S137 the oldest attempts are deleted if they exceed the limit without their responses", async () => {
    const ada = await signedInPerson();
    const url = `https://example.com/${"x".repeat(1_980)}`;
    const common = { webhookId: newId(), ownerId: ada.id, number: 1, kind: "first", outcome: "rejected", url, totalMs: 1 };
    const ids = Array.from({ length: 900 }, () => newOrderedId()).sort();
    const [answered = "", ...others] = ids;
    const open = { webhookId: newId(), ownerId: ada.id, eventId: newId(), host: "", kind: "retry", lane: 1 };
    await db().deliveryQueue.create({ data: { id: answered, ...open } });
    const answer = { responseHeaders: {}, responseBody: randomBytes(2 * MB - 2) };
    await db().attempt.create({ data: { ...common, id: answered, deliveryId: answered, startedAt: new Date(), ...answer } });
    await db().attempt.createMany({
      data: others.map((id) => ({ ...common, id, deliveryId: newOrderedId(), startedAt: new Date() })),
    });
    const part = new Date().toISOString().slice(0, 10);
    await db().storageUse.create({ data: { ownerId: ada.id, kind: "attempts", part, bytes: 900 * 2_500 + 2 * MB } });
    // A receiver could answer many unfinished deliveries with large responses.
    await withSettings({ STORAGE_ATTEMPTS_MB: "3" }, () => makeRoom(never));
    expect(await db().attempt.count({ where: { ownerId: ada.id } })).toBe(900);
    expect((await bytesOf(ada)).attempts).toBe(900 * 2_500);
    await withSettings({ STORAGE_ATTEMPTS_MB: "1" }, () => makeRoom(never));
    const left = (await db().attempt.findMany({ where: { ownerId: ada.id }, orderBy: { id: "asc" } })).map(({ id }) => id);
    expect(left).toEqual(ids.slice(-left.length));
    expect(left.length).toBeGreaterThan(100);
    expect((await bytesOf(ada)).attempts).toBe(left.length * (ATTEMPT_BYTES + url.length));
    expect((await bytesOf(ada)).attempts).toBeLessThanOrEqual(0.9 * MB);
  });

  test("S137 the oldest small jobs are deleted if their records alone exceed the limit", async () => {
    const ada = await signedInPerson();
    const spec = { command: ["true"], environment: { A: "x".repeat(2_000) } };
    const run = { ...{ ownerId: ada.id, ownerKind: "user", initiator: {}, spec }, stage: "CANCELED", finishedAt: new Date() };
    const ids = Array.from({ length: 900 }, () => newOrderedId()).sort();
    await db().jobRun.createMany({ data: ids.map((id) => ({ ...run, id })) });
    await withSettings({ STORAGE_LOGS_MB: "1" }, () => makeRoom(never));
    const left = (await db().jobRun.findMany({ where: { ownerId: ada.id }, orderBy: { id: "asc" } })).map(({ id }) => id);
    expect(left).toEqual(ids.slice(-left.length));
    expect((await bytesOf(ada)).logs).toBeLessThanOrEqual(0.9 * MB);
  });
});

describe("operators", () => {
  test("see who stores most, find owners by name, and set a quota", async () => {
    const operator = await signedInPerson("olga", { isOperator: true });
    const [small, large, none] = [await signedInPerson("small"), await signedInPerson("large"), await signedInPerson("none")];
    await lfsObject(await someRepo(small), 1e12);
    await lfsObject(await someRepo(large), 2e12);
    const all = await listStoringOwners(operator.actor, {});
    const ids = all.items.map(({ id }) => id);
    expect(ids.indexOf(large.id)).toBeLessThan(ids.indexOf(small.id));
    expect(ids).not.toContain(none.id);
    const found = await listStoringOwners(operator.actor, { text: none.username.toUpperCase() });
    expect(found.items).toMatchObject([{ id: none.id, total: 0, quota: 50e9, isQuotaSet: false }]);
    expect((await listStoringOwners(operator.actor, { text: "%" })).total).toBe(0);
    expect((await listStoringOwners(operator.actor, { kind: "organization", text: none.username })).total).toBe(0);
    expect((await listStoringOwners(operator.actor, { pageSize: 1, page: 2 })).items.length).toBe(1);

    expect(await setStorageQuota(operator.actor, none.username, "1.5 TB", from)).toBe(1.5e12);
    expect(await findStoringOwner(operator.actor, none.username)).toMatchObject({ quota: 1.5e12, isQuotaSet: true });
    expect(await setStorageQuota(operator.actor, none.username, "none", from)).toBeNull();
    expect((await usage(none)).repositories.quota).toBeNull();
    expect(await setStorageQuota(operator.actor, none.username, "default", from)).toBe(50e9);
    expect(await findStoringOwner(operator.actor, none.username)).toMatchObject({ quota: 50e9, isQuotaSet: false });
    expect(await auditTrail({ subjectId: none.id })).toEqual(expect.arrayContaining(["storage_quota.set"]));
    // The owner is found even if many others with a similar name store more.
    const others = Array.from({ length: 101 }, () => ({ id: newId(), handle: `${none.username}-${newId().slice(-6)}` }));
    await db().user.createMany({
      data: others.map(({ id, handle }) => {
        const email = `${handle}@x.example`;
        return { id, username: handle, fullName: handle, email, emailCanonical: email };
      }),
    });
    await db().storageUse.createMany({ data: others.map(({ id }) => ({ ownerId: id, kind: "git", bytes: 1n })) });
    expect(await findStoringOwner(operator.actor, none.username.toUpperCase())).toMatchObject({ id: none.id });
    await expect(listStoringOwners(none.actor, {})).rejects.toMatchObject({ code: "forbidden" });
    await expect(setStorageQuota(none.actor, none.username, "none", from)).rejects.toMatchObject({ code: "forbidden" });
    await expect(readStorageUsage(small.actor, ownerOf(none))).rejects.toMatchObject({ code: "not_found" });
    await expect(setStorageQuota(operator.actor, "nobody-\0", "none", from)).rejects.toMatchObject({ code: "not_found" });
  });

  test.each(["", "lots", "10", "-1 GB", "1e9 GB", "999999999 TB", "10 gbit", "1\0 GB"])("cannot set a quota of %j", (text) => {
    expect(() => parseQuota(text)).toThrow("Enter a size up to 1,000 TB");
  });
});
