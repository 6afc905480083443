import { expect, onTestFinished, test } from "vitest";
import { signedInPerson } from "#core/accounts/testing/people.ts";
import { pool } from "#core/db.ts";
import { someRepo } from "#core/hub/testing/repos.ts";
import { newId } from "#core/ids.ts";
import { checkSpaces } from "./network.ts";

test("doctor reports a gateway of Spaces that the installation's other machines cannot reach", async () => {
  const { id } = await someRepo(await signedInPerson(), { type: "space" });
  const setAddress = (address: string) =>
    pool().query(
      "INSERT INTO space_runtime (repo_id, stage, address) VALUES ($1, 'RUNNING', $2) ON CONFLICT (repo_id) DO UPDATE SET address = $2",
      [id, address],
    );
  const addHost = (host: string) =>
    pool().query("INSERT INTO process_heartbeat (id, kind, host, pid, version) VALUES ($1, 'web', $2, 1, '1')", [newId(), host]);
  onTestFinished(async () => void (await pool().query("DELETE FROM process_heartbeat")));
  await setAddress("http://127.0.0.1:7070");
  await addHost("anna");
  expect(await checkSpaces()).toEqual([]);
  await addHost("bela");
  expect(await checkSpaces()).toMatchObject([{ status: "warn", found: expect.stringContaining("2 machines") }]);
  await setAddress("http://10.0.0.5:7070");
  expect(await checkSpaces()).toEqual([]);
});
