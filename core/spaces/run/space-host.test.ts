import { afterAll, afterEach, expect, test, vi } from "vitest";
import { signedInPerson, type TestPerson } from "../../accounts/testing/people.ts";
import { pool } from "../../db.ts";
import { commitTo, someRepo } from "../../hub/testing/repos.ts";
import type { Exit, Runner, Task } from "../../jobs/runners/runner.ts";
import { claimRows } from "../../leases/leased-table.ts";
import { stopListening } from "../../notifications.ts";
import { startGateway } from "../gateway/start-gateway.ts";
import { SpaceHost } from "./space-host.ts";
import { spaceTable } from "./space-table.ts";

afterAll(stopListening);
afterEach(() => void vi.useRealTimers());

/** Commands that go on until they are told to end. */
const runner: Runner = {
  name: "bubblewrap",
  start: async ({ signal }: Task) => ({
    exited: new Promise<Exit>((resolve) => signal.addEventListener("abort", () => resolve({ kind: "exited", code: 143 }))),
    kill: () => undefined,
  }),
};

/** A Space that has waited for a place for some seconds, longer than those that come later. */
let waited = 1_000;
async function waiting(person: TestPerson): Promise<string> {
  const repo = await someRepo(person, { type: "space", sdk: "node" });
  await commitTo(repo, person, { "README.md": "---\nsdk: node\n---\n", "package.json": "{}", "app.js": "" });
  await pool().query("update space_runtime set due_at = now() - make_interval(secs => $2) where repo_id = $1", [
    repo.id,
    waited--,
  ]);
  return repo.id;
}

async function stages(...ids: string[]): Promise<(string | undefined)[]> {
  const { rows } = await pool().query<{ id: string; stage: string }>("select repo_id as id, stage from space_runtime");
  return ids.map((id) => rows.find((row) => row.id === id)?.stage);
}

const asleep = (count: number) =>
  vi.waitFor(
    async () => expect((await pool().query("select from space_runtime where stage = 'SLEEPING'")).rowCount).toBe(count),
    10_000,
  );

test("a Space of whoever has most gives its place to one of somebody else's, however busy it is, and not to more of their own", {
  timeout: 60_000,
}, async () => {
  const [ada, bob, eve] = await Promise.all([signedInPerson("ada"), signedInPerson("bob"), signedInPerson("eve")]);
  const adas = [await waiting(ada), await waiting(ada), await waiting(ada)];
  const gateway = await startGateway();
  const host = new SpaceHost(async () => runner, gateway);
  const runs: Promise<void>[] = [];
  async function work(): Promise<string[]> {
    const { claimId, rows } = await claimRows<{ id: string }>(spaceTable, 3 - host.size);
    runs.push(...rows.map(({ id }) => host.run(id, claimId)));
    const ids = rows.map(({ id }) => id);
    await vi.waitFor(async () => expect(await stages(...ids)).toEqual(ids.map(() => "APP_STARTING")), 10_000);
    return ids;
  }
  const check = async () => {
    await host.check(3);
    await host.check(3);
  };
  expect((await work()).sort()).toEqual(adas.toSorted());
  const fourth = await waiting(ada);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 10 * 60_000 });
  // Busy as they are, they need not end for another of hers.
  await check();
  expect(await stages(...adas)).toEqual(["APP_STARTING", "APP_STARTING", "APP_STARTING"]);

  const bobs = await waiting(bob);
  await check();
  // One of them, and not one at each look.
  await asleep(1);
  expect((await stages(...adas)).filter((stage) => stage === "SLEEPING")).toHaveLength(1);
  // Hers has waited for longer.
  expect(await work()).toEqual([bobs]);
  await check();
  expect(host.size).toBe(3);

  const eves = await waiting(eve);
  await check();
  await asleep(2);
  expect(await work()).toEqual([eves]);
  expect(await stages(bobs)).toEqual(["APP_STARTING"]);
  // Each has one now: hers that waits is no better than the others.
  await check();
  expect([host.size, ...(await stages(fourth))]).toEqual([3, "BUILDING"]);

  // Who has none takes turns with those who have one, once these have had theirs for a while.
  const dan = await waiting(await signedInPerson("dan"));
  vi.setSystemTime(Date.now() + 10 * 60_000);
  await check();
  await asleep(3);
  expect(await work()).toEqual([dan]);
  host.leave();
  await Promise.all(runs);
  await gateway.stop();
});

test("a Space that is moved is counted for whom it was moved to", async () => {
  const [ada, bob] = [await signedInPerson("ada"), await signedInPerson("bob")];
  const id = await waiting(ada);
  await pool().query("update repo set owner_id = $2 where id = $1", [id, bob.id]);
  const { rows } = await pool().query("select owner_id from space_runtime where repo_id = $1", [id]);
  expect(rows).toEqual([{ owner_id: bob.id }]);
});
