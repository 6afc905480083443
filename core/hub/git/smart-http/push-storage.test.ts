import { expect, test } from "vitest";
import { operatorCommand } from "../../../access/actor.ts";
import { from, signedInPerson } from "../../../accounts/testing/people.ts";
import { db } from "../../../db.ts";
import { setStorageQuota } from "../../../storage/manage-quotas.ts";
import { someRepo } from "../../testing/repos.ts";
import { holdArriving, pushInputMax } from "./push-storage.ts";

const KB = 1_000;
const steps = { stepBytes: 100 * KB, checkEveryMs: 5 };

test("S137 simultaneous packs cannot reserve more storage than is free", async () => {
  const ada = await signedInPerson();
  const repo = await someRepo(ada);
  await setStorageQuota(operatorCommand, ada.username, "1 MB", from);
  const holds = () => db().storageHold.count({ where: { ownerId: ada.id, isRemoved: false } });
  let received = 50 * KB;
  const full: string[] = [];
  const arrive = (name: string) =>
    holdArriving(
      ada.actor,
      repo,
      () => received,
      () => full.push(name),
      steps,
    );
  const stop = [arrive("one"), arrive("two"), arrive("three")];
  received = 301 * KB;
  await expect.poll(holds).toBe(9);
  expect(await pushInputMax(ada.actor, repo)).toBeLessThan(200 * KB);
  expect(full).toEqual([]);
  received = 501 * KB;
  await expect.poll(() => full.length).toBeGreaterThan(1);
  const refusals = await Promise.all(stop.map((each) => each()));
  expect(refusals.filter((refusal) => refusal)).toHaveLength(full.length);
  expect(refusals.find((refusal) => refusal)).toMatchObject({ reason: "no storage left" });
  expect(refusals.flatMap((refusal) => refusal?.messages ?? []).join(" ")).toContain("no room for this push (501 kB)");
  expect(await holds()).toBe(0);
});

test("S137 the pack of a proposal reserves no storage, and must be small", async () => {
  const [ada, bea] = [await signedInPerson(), await signedInPerson()];
  const repo = await someRepo(ada);
  await setStorageQuota(operatorCommand, ada.username, "80 MB", from);
  let checks = 0;
  const received = () => {
    checks++;
    return 10_000 * KB;
  };
  const stop = holdArriving(bea.actor, repo, received, () => undefined, steps);
  await expect.poll(() => checks).toBeGreaterThan(3);
  expect(await db().storageHold.count({ where: { ownerId: ada.id } })).toBe(0);
  expect(await stop()).toBeUndefined();
  expect(await pushInputMax(bea.actor, repo)).toBe(1_000 * KB + 64 * 1024);
});
