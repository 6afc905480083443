import { expect, test } from "vitest";
import { operatorCommand } from "../../access/actor.ts";
import { freshName, from, signedInPerson } from "../../accounts/testing/people.ts";
import { db, pool } from "../../db.ts";
import { newId } from "../../ids.ts";
import { createPlatform, revokePlatform, rotatePlatformToken } from "./manage-platforms.ts";
import { findPresented, type PresentedPlatform } from "./platform.ts";
import { syncRepos } from "./sync-repos.ts";
import { takeEvents } from "./take-events.ts";

async function somePlatform(): Promise<PresentedPlatform> {
  const name = freshName("forge");
  const platform = await createPlatform(operatorCommand, { name, source: `https://${name}.example` }, from);
  const { username } = await signedInPerson();
  const repo = { id: 7, type: "model", name: `${username}/tides`, private: false, url: `https://${name}.example/tides` };
  await syncRepos(platform, { repos: [repo] }, from);
  return (await findPresented(platform.token)) as PresentedPlatform;
}

const pushed = ({ source }: PresentedPlatform, externalId = "7") => ({
  specversion: "1.0",
  id: newId(),
  source,
  type: "repo.content.update",
  data: { repo: { externalId }, updatedRefs: [{ ref: "refs/heads/main", oldSha: null, newSha: "a".repeat(40) }] },
});

const take = async (platform: PresentedPlatform, event = pushed(platform)) => (await takeEvents(platform, [event]))[0]?.status;

async function transactionsOf(platforms: PresentedPlatform[]): Promise<number[]> {
  const rows = await db().$queryRaw<{ n: number }[]>`
    SELECT count(DISTINCT xmin::text)::int AS n FROM event WHERE source = ANY(${platforms.map(({ source }) => source)})`;
  return rows.map(({ n }) => n);
}

test("requests of different platforms share a transaction without waiting for a locked platform", async () => {
  const [locked, ...free] = (await Promise.all(Array.from({ length: 4 }, somePlatform))) as [
    PresentedPlatform,
    ...PresentedPlatform[],
  ];
  const unknown = pushed(free[0] as PresentedPlatform, "8");
  const other = await pool().connect();
  try {
    await other.query("begin");
    await other.query("select from platform where id = $1 for update", [locked.id]);
    const late = take(locked);
    const answers = await Promise.all([take(free[0] as PresentedPlatform, unknown), ...free.map((platform) => take(platform))]);
    expect(answers).toEqual(["failed", "recorded", "recorded", "recorded"]);
    await other.query("commit");
    expect(await late).toBe("recorded");
  } finally {
    other.release();
  }
  expect(await transactionsOf(free)).toEqual([1]);
});

test("a shared transaction that one request delays or fails is repeated for each platform alone", async () => {
  const all = await Promise.all(Array.from({ length: 3 }, somePlatform));
  const [first] = all as [PresentedPlatform];
  const event = pushed(first);
  const other = await pool().connect();
  try {
    await other.query("begin");
    await other.query(
      `insert into event (id, scope, action, repo_id, repo_type, owner_id, is_private, payload, source, source_id)
       values ($1, 'repo', 'update', $1, 'model', $1, false, '{}', $2, $3)`,
      [newId(), event.source, event.id],
    );
    const [late, ...taken] = all.map((platform) => take(platform, platform === first ? event : undefined));
    const failed = expect(late).rejects.toThrow("duplicate key");
    expect(await Promise.all(taken)).toEqual(["recorded", "recorded"]);
    await other.query("commit");
    await failed;
    expect(await db().repo.count({ where: { platformId: first.id, headSha: null } })).toBe(1);
  } finally {
    other.release();
  }
});

test("S112 a token that was revoked or has expired since it was presented is refused at once", async () => {
  const [valid, revoked, replaced] = (await Promise.all(Array.from({ length: 3 }, somePlatform))) as [
    PresentedPlatform,
    PresentedPlatform,
    PresentedPlatform,
  ];
  expect(await Promise.all([take(valid), take(revoked), take(replaced)])).toEqual(["recorded", "recorded", "recorded"]);
  await revokePlatform(operatorCommand, revoked, from);
  const { token } = await rotatePlatformToken(operatorCommand, replaced, from);
  expect(await take(replaced)).toBe("recorded");
  await db().platform.update({ where: { id: replaced.id }, data: { previousExpiresAt: new Date(0) } });
  const renewed = (await findPresented(token)) as PresentedPlatform;
  const refusal = { code: "unauthorized" };
  const nothingValid = { ...pushed(replaced), type: "nothing known" };
  await Promise.all([
    expect(take(valid)).resolves.toBe("recorded"),
    expect(take(revoked)).rejects.toMatchObject(refusal),
    expect(take(replaced)).rejects.toMatchObject(refusal),
    expect(take(renewed)).resolves.toBe("recorded"),
    expect(take(replaced, nothingValid)).rejects.toMatchObject(refusal),
  ]);
});

test("the time of a repository's last change advances at most once a second", async () => {
  const platform = await somePlatform();
  const repo = () =>
    db().repo.findFirstOrThrow({ where: { platformId: platform.id }, select: { headSha: true, updatedAt: true } });
  const push = async (newSha: string) => {
    const event = pushed(platform);
    const updatedRefs = [{ ref: "refs/heads/main", oldSha: null, newSha }];
    expect(await take(platform, { ...event, data: { ...event.data, updatedRefs } })).toBe("recorded");
    return repo();
  };
  const long = new Date(Date.now() - 60_000);
  await db().repo.updateMany({ where: { platformId: platform.id }, data: { updatedAt: long } });
  const first = await push("a".repeat(40));
  expect(first.updatedAt.getTime()).toBeGreaterThan(long.getTime());
  // The time is in the future, so that the duration of this test does not matter.
  const soon = new Date(Date.now() + 60_000);
  await db().repo.updateMany({ where: { platformId: platform.id }, data: { updatedAt: soon } });
  expect(await push("b".repeat(40))).toEqual({ headSha: "b".repeat(40), updatedAt: soon });
});
