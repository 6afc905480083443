import { expect, test } from "vitest";
import { signedInPerson } from "../../../accounts/testing/people.ts";
import { db } from "../../../db.ts";
import { queueForLock } from "../../../testing/as-owner.ts";
import { someRepo } from "../../testing/repos.ts";
import { uploadTargetOf } from "./proposal-store.ts";

test("S135 a user who is disabled while the request waits gets no store of proposals", async () => {
  const [ada, bea] = [await signedInPerson(), await signedInPerson("bea")];
  const repo = await someRepo(ada);
  const lock = `select from "user" where id = '${bea.id}' for update; update "user" set disabled_at = now() where id = '${bea.id}'`;
  const [asked] = await queueForLock(lock, [() => uploadTargetOf(bea.actor, repo)]);
  await expect(asked).rejects.toMatchObject({ code: "not_found" });
  expect(await db().repo.count({ where: { proposedToId: repo.id } })).toBe(0);
});
