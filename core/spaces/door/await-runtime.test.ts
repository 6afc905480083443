import { afterAll, expect, test } from "vitest";
import { signedInPerson } from "../../accounts/testing/people.ts";
import { pool } from "../../db.ts";
import { someRepo } from "../../hub/testing/repos.ts";
import { stopListening } from "../../notifications.ts";
import { countStatements } from "../../testing/count-statements.ts";
import { SPACE_CHANNEL } from "../stages.ts";
import { awaitRuntime } from "./await-runtime.ts";

afterAll(stopListening);

async function startingSpace(): Promise<string> {
  const repo = await someRepo(await signedInPerson(), { type: "space", sdk: "node" });
  await pool().query(
    "INSERT INTO space_runtime (repo_id, stage) VALUES ($1, 'APP_STARTING') ON CONFLICT (repo_id) DO UPDATE SET stage = 'APP_STARTING'",
    [repo.id],
  );
  return repo.id;
}

const become = (id: string, stage: string, { isTold = true } = {}) =>
  pool().query(
    "WITH done AS (UPDATE space_runtime SET stage = $2 WHERE repo_id = $1 RETURNING repo_id) SELECT CASE WHEN $4 THEN pg_notify($3, repo_id) END FROM done",
    [id, stage, SPACE_CHANNEL, isTold],
  );
const runs = ({ stage }: { stage: string }) => stage === "RUNNING";

test("a hundred callers that wait for one Space cost no more database queries than one caller", async () => {
  const id = await startingSpace();
  const until = performance.now() + 20_000;
  const { result, statements } = await countStatements(async () => {
    const waiting = Array.from({ length: 100 }, () => awaitRuntime(id, runs, { until }));
    await awaitRuntime(id, runs, { until: performance.now() + 1_100 });
    await become(id, "RUNNING");
    return Promise.all(waiting);
  });
  expect(result.map((runtime) => runtime?.stage)).toEqual(result.map(() => "RUNNING"));
  expect(statements).toBeLessThan(20);
});

test("a caller notices a change without a notification, and gets the current state at its timeout", async () => {
  const id = await startingSpace();
  const found = awaitRuntime(id, runs, { until: performance.now() + 20_000 });
  const leaving = new AbortController();
  const left = awaitRuntime(id, () => false, { until: performance.now() + 20_000, signal: leaving.signal });
  expect(await awaitRuntime(id, () => false, { until: performance.now() })).toMatchObject({ stage: "APP_STARTING" });
  leaving.abort();
  expect(await left).toMatchObject({ repoId: id });
  await become(id, "RUNNING", { isTold: false });
  expect(await found).toMatchObject({ stage: "RUNNING" });
  await pool().query("DELETE FROM space_runtime WHERE repo_id = $1", [id]);
  expect(await awaitRuntime(id, runs, { until: performance.now() + 20_000 })).toBeUndefined();
});
