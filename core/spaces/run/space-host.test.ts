import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterAll, afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { from, organizationOf, signedInPerson, type TestPerson } from "../../accounts/testing/people.ts";
import { pool } from "../../db.ts";
import { readRepo } from "../../hub/repos/read-repos.ts";
import { commitTo, someRepo } from "../../hub/testing/repos.ts";
import { newId } from "../../ids.ts";
import type { Exit, Runner, Task } from "../../jobs/runners/runner.ts";
import { requestContext } from "../../log.ts";
import { stopListening } from "../../notifications.ts";
import { claimRows, renewClaims } from "../../postgres/leased-table.ts";
import { pauseSpace, restartSpace } from "../controls/change-runtime.ts";
import { AWAITED_SECONDS, noteWaiting, WAKES, wakeSpace } from "../controls/wake-space.ts";
import { GATEWAY_KEY_HEADER, gatewayKey, PARTY_HEADER, startGateway } from "../gateway/start-gateway.ts";
import { SPACE_PARTY, spaceTable } from "../space-runtime.ts";
import { SpaceHost } from "./space-host.ts";

beforeEach(() => pool().query("delete from space_runtime"));
afterAll(stopListening);
afterEach(() => void vi.useRealTimers());

const commands: string[] = [];
let untilEnded = Promise.resolve();
const runner: Runner = {
  name: "bubblewrap",
  start: async ({ id, signal }: Task) => {
    commands.push(id);
    const exit: Exit = { kind: "exited", code: 143 };
    const exited = new Promise<Exit>((resolve) => signal.addEventListener("abort", () => resolve(untilEnded.then(() => exit))));
    return { exited: exited.finally(() => commands.splice(commands.indexOf(id), 1)), kill: () => undefined };
  },
};

let waited = 1_000;
async function waiting(person: TestPerson, owner = person.username): Promise<string> {
  const repo = await someRepo(person, { type: "space", sdk: "node", owner });
  await commitTo(repo, person, { "README.md": "---\nsdk: node\n---\n", "package.json": "{}", "app.js": "" });
  await waitsForLonger(repo.id);
  return repo.id;
}
const waitsForLonger = (id: string) =>
  pool().query("update space_runtime set due_at = now() - make_interval(secs => $2) where repo_id = $1", [id, waited--]);

const fallAsleep = (...ids: string[]) =>
  pool().query("update space_runtime set stage = 'SLEEPING', is_wanted = false where repo_id = any ($1)", [ids]);

async function stages(...ids: string[]): Promise<(string | undefined)[]> {
  const { rows } = await pool().query<{ id: string; stage: string }>("select repo_id as id, stage from space_runtime");
  return ids.map((id) => rows.find((row) => row.id === id)?.stage);
}

async function worker(capacity: number) {
  const gateway = await startGateway();
  const host = new SpaceHost(async () => runner, gateway);
  const runs: Promise<void>[] = [];
  const claims: string[] = [];
  onTestFinished(async () => {
    host.leave();
    await Promise.all(runs);
    await gateway.stop();
  });
  /** On a busy machine, a start can take longer than a lease. */
  const renew = () => renewClaims(spaceTable, claims);
  return {
    gateway,
    host,
    renew,
    async work(): Promise<string[]> {
      const { claimId, rows } = await claimRows<{ id: string }>(spaceTable, capacity - host.size);
      claims.push(claimId);
      runs.push(...rows.map(({ id }) => host.run(id, claimId)));
      const ids = rows.map(({ id }) => id);
      await vi.waitFor(async () => {
        await renew();
        expect(await stages(...ids)).toEqual(ids.map(() => "APP_STARTING"));
      }, 20_000);
      return ids;
    },
    async check(left = capacity): Promise<void> {
      await renew();
      await host.check(capacity);
      await host.check(capacity);
      const { rowCount } = await pool().query("select from space_runtime where is_wanted and claimed_until > now()");
      expect(rowCount).toBe(left);
      await vi.waitFor(() => expect(host.size).toBe(left), 20_000);
    },
  };
}

function tenMinutesLater(): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 10 * 60_000 });
}

const visit = <T>(ip: string, work: () => Promise<T>): Promise<T> => requestContext.run({ requestId: newId(), ip }, work);
let lastAddress = 1;
const someAddress = () => `198.51.100.${lastAddress++}`;

test("the owner with the most slots yields a slot to another owner, even if the Space is busy", {
  timeout: 90_000,
}, async () => {
  const [ada, bob, eve] = await Promise.all([signedInPerson("ada"), signedInPerson("bob"), signedInPerson("eve")]);
  const adas = [await waiting(ada), await waiting(ada), await waiting(ada)];
  const { work, check } = await worker(3);
  expect((await work()).sort()).toEqual(adas.toSorted());
  const fourth = await waiting(ada);
  tenMinutesLater();
  await check();
  expect(await stages(...adas)).toEqual(["APP_STARTING", "APP_STARTING", "APP_STARTING"]);

  const bobs = await waiting(bob);
  await check(2);
  expect((await stages(...adas)).filter((stage) => stage === "SLEEPING")).toHaveLength(1);
  expect(await work()).toEqual([bobs]);
  await check();

  const eves = await waiting(eve);
  await check(2);
  expect((await stages(...adas)).filter((stage) => stage === "SLEEPING")).toHaveLength(2);
  expect(await work()).toEqual([eves]);
  expect(await stages(bobs)).toEqual(["APP_STARTING"]);
  const dans = await waiting(await signedInPerson("dan"));
  tenMinutesLater();
  await check();
  expect(await stages(fourth, dans)).toEqual(["BUILDING", "BUILDING"]);
});

test("S132 a Space that is claimed again during its run runs only once, and ends when paused", {
  timeout: 60_000,
}, async () => {
  const ada = await signedInPerson("ada");
  const id = await waiting(ada);
  const { host, work, renew } = await worker(3);
  const runsOnce = () =>
    vi.waitFor(async () => {
      await renew();
      expect(commands.filter((one) => one === id)).toHaveLength(1);
    }, 20_000);
  await work();
  await runsOnce();
  // The claim of a paused Space can expire while its files are written, or while the process is suspended.
  const runOut = "update space_runtime set claimed_until = now() - interval '1 second' where repo_id = $1";
  for (let again = 0; again < 2; again++) {
    await pauseSpace(ada.actor, await nameOf(id), from);
    await pool().query(runOut, [id]);
    await restartSpace(ada.actor, await nameOf(id), from);
    expect(await work()).toEqual([id]);
  }
  await runsOnce();
  expect(host.size).toBe(1);
  await pauseSpace(ada.actor, await nameOf(id), from);
  await vi.waitFor(async () => {
    await host.check(3);
    expect([...commands, host.size]).toEqual([0]);
  }, 20_000);
});

test("S137 a Space that cannot be run is retried after growing pauses", async () => {
  const ada = await signedInPerson("ada");
  const id = await waiting(ada);
  const gateway = await startGateway();
  onTestFinished(() => gateway.stop());
  const host = new SpaceHost(() => Promise.reject(new Error("no runner")), gateway);
  const delays: number[] = [];
  for (let time = 0; time < 8; time++) {
    const { claimId } = await claimRows<{ id: string }>(spaceTable, 1);
    await host.run(id, claimId);
    // The column stores milliseconds, so a rounded now() could be later than the next claim.
    const { rows } = await pool().query<{ seconds: number }>(
      "update space_runtime set due_at = now() - interval '1 second' from (select repo_id as id, due_at - now() as wait from space_runtime) as was where id = $1 and repo_id = id returning extract(epoch from wait)::float8 as seconds",
      [id],
    );
    delays.push(Math.round((rows[0]?.seconds ?? 0) / 10) * 10);
  }
  expect(delays).toEqual([10, 20, 40, 80, 160, 320, 320, 320]);
});

test("several workers together free only one slot for a waiting Space", { timeout: 60_000 }, async () => {
  const [ada, bob] = await Promise.all([signedInPerson("ada"), signedInPerson("bob")]);
  for (let each = 0; each < 4; each++) await waiting(ada);
  const [one, other] = [await worker(2), await worker(2)];
  await one.work();
  await other.work();
  tenMinutesLater();
  await waiting(bob);
  const { promise, resolve } = Promise.withResolvers<void>();
  untilEnded = promise;
  await Promise.all([one.host.check(2), other.host.check(2)]);
  const { rowCount } = await pool().query("select from space_runtime where is_wanted and claimed_until > now()");
  resolve();
  expect(rowCount).toBe(3);
});

test("a quiet Space does not yield its slot to an owner who has more slots", { timeout: 60_000 }, async () => {
  const [ada, bob] = await Promise.all([signedInPerson("ada"), signedInPerson("bob")]);
  const [, , bobs] = [await waiting(ada), await waiting(ada), await waiting(bob)];
  const { gateway, work, check } = await worker(3);
  await work();
  gateway.add(bobs, () => Promise.reject(new Error("nobody asks")));
  tenMinutesLater();
  await waiting(ada);
  await check();
  const eves = await waiting(await signedInPerson("eve"));
  await check(2);
  expect(await stages(bobs)).toEqual(["SLEEPING"]);
  expect(await work()).toEqual([eves]);
});

test("S137 a Space that a visitor woke waits for a slot only as long as the visitor", {
  timeout: 60_000,
}, async () => {
  const [ada, eve] = await Promise.all([signedInPerson("ada"), signedInPerson("eve")]);
  const adas = [await waiting(ada), await waiting(ada)];
  const { work, check } = await worker(2);
  await work();
  tenMinutesLater();
  const [eves, left] = [await waiting(eve), await waiting(eve)];
  await fallAsleep(eves, left);
  for (const id of [eves, left]) {
    await visit(someAddress(), () => wakeSpace(id));
    await pool().query(
      "update space_runtime set due_at = now() - interval '1 hour', awaited_at = now() - make_interval(secs => $2) where repo_id = $1",
      [id, AWAITED_SECONDS + 1],
    );
  }
  await noteWaiting(eves);
  await check(1);
  expect(await stages(eves, left)).toEqual(["APP_STARTING", "SLEEPING"]);
  expect(await work()).toEqual([eves]);
  expect((await stages(...adas)).toSorted()).toEqual(["APP_STARTING", "SLEEPING"]);

  tenMinutesLater();
  await visit(someAddress(), () => wakeSpace(left));
  await pool().query("update space_runtime set due_at = now() - interval '1 hour' where repo_id = $1", [left]);
  await check();
});

test("S137 one visitor keeps at most a quarter of the slots busy, even with many Spaces", {
  timeout: 60_000,
}, async () => {
  const app = createServer((_, res) => void res.end("hello")).listen(0, "127.0.0.1");
  await once(app, "listening");
  onTestFinished(() => void app.close().closeAllConnections());
  const { gateway, work, check } = await worker(4);
  const ids: string[] = [];
  for (const name of ["ada", "bob", "eve", "dan"]) ids.push(await waiting(await signedInPerson(name)));
  const serve = (id: string) => gateway.add(id, async () => connect((app.address() as AddressInfo).port, "127.0.0.1"));
  const ask = async (party: string, id: string) => {
    const headers = { [GATEWAY_KEY_HEADER]: gatewayKey(id), [PARTY_HEADER]: party };
    expect(await (await fetch(gateway.address, { headers })).text()).toBe("hello");
  };
  await work();
  ids.forEach(serve);
  tenMinutesLater();
  for (const id of ids) await ask("a stranger", id);
  await ask("a guest", ids[0] as string);
  const fays = await waiting(await signedInPerson("fay"));
  await check(3);
  expect(await stages(ids[0] as string)).toEqual(["APP_STARTING"]);
  expect(await work()).toEqual([fays]);

  const now = await stages(...ids);
  for (const [at, id] of ids.entries()) if (now[at] === "APP_STARTING") await ask(`a guest of ${id}`, id);
  await waiting(await signedInPerson("gus"));
  await check();
});

test("S137 one visitor can wake only a few Spaces of a few accounts in five minutes", {
  timeout: 60_000,
}, async () => {
  const ada = await signedInPerson("ada");
  const ids: string[] = [];
  for (let each = 0; each <= WAKES.limit; each++) ids.push((await someRepo(ada, { type: "space", sdk: "node" })).id);
  for (const id of ids)
    await pool().query("insert into space_runtime (repo_id, stage, is_wanted) values ($1, 'SLEEPING', false)", [id]);
  const [address, other] = [someAddress(), someAddress()];
  const wake = (id = "") => visit(address, () => wakeSpace(id));
  for (const id of ids.slice(0, WAKES.limit)) await Promise.all([wake(id), wake(id), wake(id)]);
  await expect(wake(ids.at(-1))).rejects.toMatchObject({ code: "rate_limited" });
  expect(await stages(...ids)).toEqual([...Array(WAKES.limit).fill("APP_STARTING"), "SLEEPING"]);
  await wake(ids[0]);
  await visit(other, () => wakeSpace(ids.at(-1) as string));
  expect(await stages(...ids.slice(-1))).toEqual(["APP_STARTING"]);

  await fallAsleep(...ids);
  for (const [at, id] of ids.entries()) {
    await pool().query("update space_runtime set owner_id = $2 where repo_id = $1", [id, newId()]);
    if (at + 1 < WAKES.limit) await wake(id);
    else await expect(wake(id)).rejects.toMatchObject({ code: "rate_limited" });
  }
});

test("a Space of an organization counts against its creator, and then against the user who restarts it", async () => {
  const [ada, bob] = [await signedInPerson("ada"), await signedInPerson("bob")];
  const adas = await waiting(ada);
  const { name } = await organizationOf(ada, [[bob, "write"]]);
  const theirs = await waiting(ada, name);
  const bobs = await waiting(bob);
  const claimed = (await claimRows<{ id: string }>(spaceTable, 2)).rows.map(({ id }) => id);
  expect(claimed.toSorted()).toEqual([adas, bobs].toSorted());
  expect(await partyOf(theirs)).toBe(ada.id);
  await restartSpace(bob.actor, await nameOf(theirs), from);
  expect(await partyOf(theirs)).toBe(bob.id);
  await restartSpace(ada.actor, await nameOf(adas), from);
  expect(await partyOf(adas)).toBe(ada.id);
});

test("a moved Space counts against its new owner or, in an organization, against its former owner", async () => {
  const [ada, bob] = [await signedInPerson("ada"), await signedInPerson("bob")];
  const id = await waiting(ada);
  const move = (ownerId: string, kind: string) =>
    pool().query("update repo set owner_id = $2, owner_kind = $3 where id = $1", [id, ownerId, kind]);
  await move(bob.id, "user");
  expect(await partyOf(id)).toBe(bob.id);
  for (const { id: to } of [await organizationOf(ada), await organizationOf(ada)]) {
    await move(to, "organization");
    expect(await partyOf(id)).toBe(bob.id);
  }
  await move(ada.id, "user");
  expect(await partyOf(id)).toBe(ada.id);
});

async function partyOf(id: string): Promise<string | undefined> {
  const { rows } = await pool().query(`select ${SPACE_PARTY} as party from space_runtime where repo_id = $1`, [id]);
  return rows[0]?.party;
}

async function nameOf(id: string): Promise<{ owner: string; name: string }> {
  const repo = await readRepo(id);
  return { owner: repo?.owner.handle ?? "", name: repo?.name ?? "" };
}
