import { expect, test } from "vitest";
import { from, signedInPerson } from "../accounts/testing/people.ts";
import { appToken } from "../accounts/testing/tokens.ts";
import { throttleKey } from "../accounts/throttle.ts";
import { pool } from "../db.ts";
import { someRepo } from "../hub/testing/repos.ts";
import { readSpaceRuntime } from "./space-runtime.ts";
import { deleteSpaceVariable, setSpaceVariable } from "./variables.ts";

test("a failed Space is restarted when a variable changes, and a paused Space stays paused", async () => {
  const ada = await signedInPerson();
  const repo = await someRepo(ada, { type: "space", sdk: "node" });
  const space = { owner: repo.owner.handle, name: repo.name };
  await pool().query("INSERT INTO space_runtime (repo_id, stage) VALUES ($1, 'STOPPED') ON CONFLICT DO NOTHING", [repo.id]);
  const rest = (stage: string) =>
    pool().query("UPDATE space_runtime SET stage = $2, message = 'why', is_wanted = false, restarts = 5 WHERE repo_id = $1", [
      repo.id,
      stage,
    ]);
  const isWanted = async () =>
    (await pool().query<{ is: boolean }>("SELECT is_wanted AS is FROM space_runtime WHERE repo_id = $1", [repo.id])).rows[0]?.is;

  await rest("RUNTIME_ERROR");
  await setSpaceVariable(ada.actor, space, { name: "A", value: "b", isSecret: false }, from);
  expect(await readSpaceRuntime(repo.id)).toMatchObject({ stage: "APP_STARTING", message: null, restarts: 0 });
  expect(await isWanted()).toBe(true);
  await rest("RUNTIME_ERROR");
  await deleteSpaceVariable(ada.actor, space, { name: "A", isSecret: false }, from);
  expect(await readSpaceRuntime(repo.id)).toMatchObject({ stage: "APP_STARTING" });
  await rest("PAUSED");
  await setSpaceVariable(ada.actor, space, { name: "A", value: "c", isSecret: false }, from);
  expect(await readSpaceRuntime(repo.id)).toMatchObject({ stage: "PAUSED", message: "why" });
  expect(await isWanted()).toBe(false);
});

test("the total size of all values is limited, and a value may be replaced by one of the same size", async () => {
  const ada = await signedInPerson();
  const repo = await someRepo(ada, { type: "space", sdk: "node" });
  const space = { owner: repo.owner.handle, name: repo.name };
  const set = (name: string) => setSpaceVariable(ada.actor, space, { name, value: "ü".repeat(32_768), isSecret: true }, from);
  for (let at = 0; at < 7; at++) await set(`A${at}`);
  await expect(set("A7")).rejects.toMatchObject({ code: "invalid_request", field: "value" });
  await set("A0");
});

test.each(["a\0", "\ud800", "x".repeat(501)])(
  "S51 a description is text of limited length: %j is refused",
  async (description) => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada, { type: "space", sdk: "node" });
    const space = { owner: repo.owner.handle, name: repo.name };
    const given = { name: "A", value: "b", isSecret: false, description };
    await expect(setSpaceVariable(ada.actor, space, given, from)).rejects.toMatchObject({
      code: "invalid_request",
      field: "description",
    });
  },
);

test("S137 the values that an account sets in all of its Spaces in a day are limited", async () => {
  const ada = await signedInPerson();
  const repo = await someRepo(ada, { type: "space", sdk: "node" });
  const space = { owner: repo.owner.handle, name: repo.name };
  const given = { name: "A", value: "ü".repeat(32_768), isSecret: true, description: "x".repeat(500) };
  const set = () => setSpaceVariable(ada.actor, space, given, from);
  await set();
  const key = throttleKey("space-variables", ada.id);
  const count = async () => (await pool().query("SELECT count FROM throttle WHERE key = $1", [key])).rows[0]?.count;
  expect(await count()).toBe(2 * 32_768 + 500);
  await pool().query("UPDATE throttle SET count = $2 WHERE key = $1", [key, 16 * 1024 * 1024]);
  await expect(set()).rejects.toMatchObject({ code: "rate_limited" });
  // The user's apps have a limit of their own.
  await setSpaceVariable(await appToken(ada.id, { scopes: ["manage-repos"] }), space, given, from);
  await deleteSpaceVariable(ada.actor, space, given, from);
});
