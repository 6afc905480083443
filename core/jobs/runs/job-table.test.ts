import { type JobSpec, jobSpecSchema } from "@keyhook/sdk";
import { beforeEach, describe, expect, it } from "vitest";
import { db, pool } from "../../db.ts";
import { newId } from "../../ids.ts";
import { claimRows } from "../../postgres/leased-table.ts";
import { type ClaimedRun, jobTable } from "./job-table.ts";
import { createRun } from "./request-run.ts";

beforeEach(() => pool().query("delete from job_run"));

type By = { kind: "user" | "organization"; id: string; createdById: string | null };
const person = (id = newId()): By => ({ kind: "user", id, createdById: id });
const organizationOf = ({ id }: By): By => ({ kind: "organization", id: newId(), createdById: id });

async function waiting({ createdById, ...owner }: By, count: number, spec: Partial<JobSpec> = {}): Promise<void> {
  const initiator = { type: "user", id: owner.id } as const;
  const of = { owner, createdById, delegationId: null, initiator, secrets: {} };
  for (let each = 0; each < count; each++)
    await createRun(db(), { ...of, spec: jobSpecSchema.parse({ command: ["sleep", "86400"], ...spec }) });
}
const DAY = { timeoutSeconds: 86_400 };

async function claim(limit: number, free = limit): Promise<ClaimedRun[]> {
  return (await claimRows<ClaimedRun>(jobTable, limit, free)).rows;
}
const count = (rows: ClaimedRun[], ...owners: By[]) =>
  owners.map(({ id }) => rows.filter(({ owner_id }) => owner_id === id).length);

describe("slots for jobs", () => {
  it("go to callers in turn, even to a caller who is behind two hundred runs of another", async () => {
    const [ada, bob, eve] = [person(), person(), person()];
    await waiting(ada, 200);
    await waiting(bob, 2);
    await waiting(eve, 1);
    expect(count(await claim(4), ada, bob, eve)).toEqual([2, 1, 1]);
    expect(count(await claim(1), ada, bob)).toEqual([0, 1]);
    expect(count(await claim(10), ada)).toEqual([10]);
  });

  it("go to the caller who was served longest ago, if all hold equally many", async () => {
    const [ada, bob, eve] = [person(), person(), person()];
    await waiting(ada, 5);
    await waiting(bob, 5);
    await waiting(eve, 1);
    const served: (string | undefined)[] = [];
    for (let turn = 0; turn < 4; turn++) {
      const [run] = await claim(1);
      served.push(run?.owner_id);
      await pool().query("update job_run set finished_at = now(), claim_id = null, claimed_until = null where id = $1", [
        run?.id,
      ]);
    }
    expect(served).toEqual([ada.id, bob.id, eve.id, ada.id]);
  });

  it("are counted for a person over all of their organizations", async () => {
    const [ada, bob] = [person(), person()];
    for (const of of [ada, ...Array.from({ length: 5 }, () => organizationOf(ada))]) await waiting(of, 2);
    await waiting(bob, 2);
    expect(count(await claim(4), bob)).toEqual([2]);
    const left: By = { ...organizationOf(ada), createdById: null };
    await waiting(left, 1);
    expect(count(await claim(1), left)).toEqual([1]);
  });

  it("stay half free for later callers if one caller's runs may be long", async () => {
    const [ada, bob] = [person(), person()];
    await waiting(ada, 8, DAY);
    expect(count(await claim(4), ada)).toEqual([2]);
    expect(await claim(2)).toEqual([]);
    expect(await claim(1, 2)).toEqual([]);
    await waiting(bob, 3, DAY);
    expect(count(await claim(2), ada, bob)).toEqual([0, 1]);
  });

  it("S137 may all be used by long runs, except for the last slot", async () => {
    const [ada, bob, eve, dan] = [person(), person(), person(), person()];
    for (const each of [ada, bob, eve, dan]) await waiting(each, 2, DAY);
    expect(await claim(4)).toHaveLength(3);
    expect(await claim(1)).toEqual([]);
    const late = person();
    await waiting(late, 1);
    expect(count(await claim(1), late)).toEqual([1]);
  });

  it("may be used by a long run if there is only one slot", async () => {
    const ada = person();
    await waiting(ada, 2, DAY);
    expect(await claim(1)).toHaveLength(1);
  });

  it("go to a user's short runs that queue behind waiting long ones", async () => {
    const [ada, bob] = [person(), person()];
    await waiting(ada, 6, DAY);
    await waiting(ada, 2);
    const claimed = await claim(4);
    expect(claimed.filter(({ spec }) => (spec as JobSpec).timeoutSeconds === undefined)).toHaveLength(2);
    await pool().query("update job_run set finished_at = now()");
    await waiting(ada, 3, DAY);
    await claim(4);
    for (let each = 0; each < 70; each++) await waiting(person(), 1, DAY);
    await waiting(bob, 1);
    await claim(1, 2);
    expect(count(await claim(1), bob)).toEqual([1]);
  });

  it("all go to one caller if its runs end soon and nobody else waits", async () => {
    const ada = person();
    await waiting(ada, 5);
    expect(await claim(4)).toHaveLength(4);
  });

  it("are given only once, and at most half to one caller, if several workers claim at once", async () => {
    const ada = person();
    await waiting(ada, 20, DAY);
    const claims = (await Promise.all([claim(4), claim(4), claim(4)])).flat();
    expect(new Set(claims.map(({ id }) => id)).size).toBe(claims.length);
    expect(claims.length).toBeLessThanOrEqual(6);
  });

  it("S122 go first to runs of a dead worker, so that their end is recorded", async () => {
    const [ada, bob] = [person(), person()];
    await waiting(ada, 4);
    const [lost] = await claim(4);
    await pool().query("update job_run set stage = 'RUNNING'");
    await pool().query("update job_run set claimed_until = now() where id = $1", [lost?.id]);
    await waiting(bob, 1);
    expect((await claim(1)).map(({ id }) => id)).toEqual([lost?.id]);
  });
});
