import { jobSpecSchema } from "@keyhook/sdk";
import { expect, test } from "vitest";
import { from, organizationOf, signedInPerson } from "../../accounts/testing/people.ts";
import { db, pool } from "../../db.ts";
import { newId } from "../../ids.ts";
import { claimRows } from "../../postgres/leased-table.ts";
import { unsealJobSecrets } from "../secrets.ts";
import {
  createSchedule,
  deleteSchedule,
  type NewSchedule,
  resumeSchedule,
  suspendSchedule,
  updateSchedule,
} from "./change-schedule.ts";
import { findSchedule, listSchedules } from "./find-schedule.ts";
import { nextRunAt, parseSchedule } from "./next-run-at.ts";
import { scheduleTable } from "./schedule.ts";
import { type ClaimedSchedule, runScheduleNow, startDueRun } from "./start-due-run.ts";

const spec = jobSpecSchema.parse({ dockerImage: "debian", command: ["true"] });
const hourly: NewSchedule = { spec, secrets: { KEY: "k" }, schedule: "@hourly" };

const makeDue = (id: string, ago = "1 second") =>
  pool().query("update scheduled_job set due_at = now() - $2::interval where id = $1", [id, ago]);
const runsOf = (id: string) => db().jobRun.findMany({ where: { initiator: { path: ["id"], equals: id } } });

async function work(): Promise<void> {
  const { claimId, rows } = await claimRows<ClaimedSchedule>(scheduleTable, 50);
  await Promise.all(rows.map((row) => startDueRun(row, claimId)));
}

async function scheduled(input: Partial<NewSchedule> = {}) {
  const ada = await signedInPerson();
  const { schedule } = await createSchedule(ada.actor, ada.username, { ...hourly, ...input }, from);
  return { ada, of: { namespace: ada.username, scheduleId: schedule.id }, id: schedule.id };
}

test("a schedule has five fields or a name, in a time zone, and must be due at some time", () => {
  const winter = new Date("2026-01-10T12:00:00Z");
  const next = (schedule: string, timezone = "UTC", after = winter) =>
    nextRunAt(parseSchedule({ schedule, timezone }), after)?.toISOString();
  expect(next("@hourly")).toBe("2026-01-10T13:00:00.000Z");
  expect(next("@Weekly")).toBe("2026-01-11T00:00:00.000Z");
  expect(next(" 0  9 * * MON ", "Europe/Zurich")).toBe("2026-01-12T08:00:00.000Z");
  expect(parseSchedule({ schedule: " 0  9 * * 1 ", timezone: "europe/zurich" })).toEqual({
    schedule: "0 9 * * 1",
    timezone: "Europe/Zurich",
  });
  // 02:30 is skipped when the clocks go forward, and shown twice when they go back.
  expect(next("30 2 * * *", "Europe/Zurich", new Date("2026-03-28T12:00:00Z"))).toBe("2026-03-29T01:00:00.000Z");
  const once = next("30 2 * * *", "Europe/Zurich", new Date("2026-10-24T12:00:00Z")) as string;
  expect(once).toBe("2026-10-25T00:30:00.000Z");
  expect(next("30 2 * * *", "Europe/Zurich", new Date(once))).toBe("2026-10-26T01:30:00.000Z");
  expect(next("0 0 29 2 +1", "UTC", new Date("2072-03-01T00:00:00Z"))).toBe("2112-02-29T00:00:00.000Z");
  for (const wrong of [
    "",
    "* * * *",
    "* * * * * *",
    "@reboot",
    "2030-01-01T00:00:00",
    "61 * * * *",
    "x".repeat(300),
    "0 0 30 2 *",
  ])
    expect(() => parseSchedule({ schedule: wrong }), wrong).toThrow(/./);
  expect(() => parseSchedule({ schedule: "@daily", timezone: "Mars/Base" })).toThrow("time zone");
});

test("S137 schedules whose jobs have large specs fill a page sooner, and each schedule is on exactly one page", async () => {
  const ada = await signedInPerson();
  const environment = Object.fromEntries(Array.from({ length: 16 }, (_, each) => [`LONG_${each}`, "x".repeat(30_000)]));
  const made: string[] = [];
  for (let each = 0; each < 4; each++) {
    const { schedule } = await createSchedule(ada.actor, ada.username, { ...hourly, spec: { ...spec, environment } }, from);
    made.push(schedule.id);
  }
  const pages: string[][] = [];
  for (let page = 1, pageCount = 1; page <= pageCount; page++) {
    const { items, total, pageSize } = await listSchedules(ada.actor, ada.username, { page, pageSize: 100 });
    pageCount = Math.ceil(total / pageSize);
    pages.push(items.map(({ id }) => id));
  }
  const latest = made.toSorted().reverse();
  expect(pages).toEqual([latest.slice(0, 3), latest.slice(3)]);
});

test("each due time starts one run, even with several workers, and several missed times together start one run", async () => {
  const { id, ada } = await scheduled();
  await work();
  expect(await runsOf(id)).toHaveLength(0);
  await makeDue(id, "5 hours");
  await Promise.all(Array.from({ length: 6 }, work));
  const [run, ...more] = await runsOf(id);
  expect(more).toEqual([]);
  expect(run).toMatchObject({
    ownerId: ada.id,
    createdById: ada.id,
    initiator: { type: "scheduled-job", id },
    stage: "SCHEDULING",
  });
  expect(unsealJobSecrets(run?.secrets ?? null)).toEqual({ KEY: "k" });
  const { dueAt, lastRunId } = await db().scheduledJob.findUniqueOrThrow({ where: { id } });
  expect(lastRunId).toBe(run?.id);
  expect(dueAt?.getTime()).toBeGreaterThan(Date.now());
});

test("a worker that lost its claim to another worker starts nothing", async () => {
  const { id } = await scheduled();
  await makeDue(id);
  const { claimId, rows } = await claimRows<ClaimedSchedule>(scheduleTable, 50);
  const row = rows.find((one) => one.id === id) as ClaimedSchedule;
  await pool().query("update scheduled_job set claimed_until = now() - interval '1 second' where id = $1", [id]);
  await work();
  await startDueRun(row, claimId);
  expect(await runsOf(id)).toHaveLength(1);
});

test("runs do not overlap unless that is allowed, and skipped runs are reported", async () => {
  const { id, of, ada } = await scheduled();
  const { runId } = await runScheduleNow(ada.actor, of, from);
  await expect(runScheduleNow(ada.actor, of, from)).rejects.toMatchObject({ code: "conflict" });
  await makeDue(id);
  await work();
  expect(await runsOf(id)).toHaveLength(1);
  expect((await findSchedule(ada.actor, of)).schedule).toMatchObject({
    message: expect.stringContaining("was skipped"),
    lastRun: { id: runId },
  });
  await db().jobRun.update({ where: { id: runId }, data: { stage: "COMPLETED", finishedAt: new Date() } });
  await makeDue(id);
  await work();
  expect((await findSchedule(ada.actor, of)).schedule.message).toBeNull();
  await updateSchedule(ada.actor, of, { mayOverlap: true }, from);
  await makeDue(id);
  await work();
  expect(await runsOf(id)).toHaveLength(3);
});

test("a due run is skipped, with the reason, if the owner has too many open runs", async () => {
  const { ada, of, id } = await scheduled();
  await pool().query(
    `INSERT INTO job_run (id, owner_id, owner_kind, initiator, spec, stage)
     SELECT lpad(to_hex(n), 24, '0'), $1, 'user', '{"type":"user","id":"x"}', '{}', 'SCHEDULING' FROM generate_series(1, 200) n`,
    [ada.id],
  );
  await makeDue(id);
  await work();
  expect(await runsOf(id)).toEqual([]);
  expect((await findSchedule(ada.actor, of)).schedule.message).toMatch(/was skipped: 200 jobs are waiting or running/);
  await expect(runScheduleNow(ada.actor, of, from)).rejects.toMatchObject({ code: "rate_limited" });
  await pool().query("UPDATE job_run SET finished_at = now() WHERE owner_id = $1", [ada.id]);
  const { runId } = await runScheduleNow(ada.actor, of, from);
  const recorded = await db().auditEvent.findMany({ where: { type: "job.run", actorId: ada.id } });
  expect(recorded.map(({ data }) => data)).toEqual([{ runId, scheduleId: id, image: "debian" }]);
});

test("a suspended schedule does not run, and does not make up for missed times when it is resumed", async () => {
  const { id, of, ada } = await scheduled({ isSuspended: true });
  await makeDue(id);
  await work();
  expect((await resumeSchedule(ada.actor, of, from)).schedule.nextRunAt?.getTime()).toBeGreaterThan(Date.now());
  await work();
  expect(await runsOf(id)).toHaveLength(0);
  await makeDue(id);
  expect((await suspendSchedule(ada.actor, of, from)).schedule).toMatchObject({ isSuspended: true, nextRunAt: null });
  await work();
  await runScheduleNow(ada.actor, of, from);
  expect(await runsOf(id)).toHaveLength(1);
  await deleteSchedule(ada.actor, of, from);
  await expect(findSchedule(ada.actor, of)).rejects.toMatchObject({ code: "not_found" });
  expect(await runsOf(id)).toHaveLength(1);
});

test("S135 a schedule has the rights that its creator has when the schedule is due", async () => {
  const [admin, writer] = [await signedInPerson(), await signedInPerson()];
  const org = await organizationOf(admin, [[writer, "write"]]);
  const { schedule } = await createSchedule(writer.actor, org.name, hourly, from);
  const of = { namespace: org.name, scheduleId: schedule.id };
  await db().membership.updateMany({ where: { userId: writer.id }, data: { role: "read" } });
  await makeDue(schedule.id);
  await work();
  expect(await runsOf(schedule.id)).toHaveLength(0);
  expect((await findSchedule(admin.actor, of)).schedule).toMatchObject({
    isSuspended: true,
    message: expect.stringContaining("Resume it"),
  });
  expect(await db().auditEvent.count({ where: { orgId: org.id, type: "scheduled_job.suspend", actorId: null } })).toBe(1);
  await expect(resumeSchedule(writer.actor, of, from)).rejects.toMatchObject({ code: "not_found" });
  await resumeSchedule(admin.actor, of, from);
  await makeDue(schedule.id);
  await work();
  expect(await runsOf(schedule.id)).toMatchObject([{ createdById: admin.id }]);
  await db().user.update({ where: { id: admin.id }, data: { disabledAt: new Date() } });
  await db().jobRun.updateMany({ where: { ownerId: org.id }, data: { stage: "COMPLETED", finishedAt: new Date() } });
  await makeDue(schedule.id);
  await work();
  expect(await runsOf(schedule.id)).toHaveLength(1);
});

test("S136 strangers do not see a schedule, and an owner has a limited number of schedules", async () => {
  const { of, ada } = await scheduled();
  const { id: strangerId, actor: stranger } = await signedInPerson();
  expect(strangerId).not.toBe(ada.id);
  const refusals = await Promise.allSettled([
    findSchedule(stranger, of),
    findSchedule(stranger, { ...of, namespace: "nobody-at-all" }),
    deleteSchedule(stranger, of, from),
    runScheduleNow(stranger, of, from),
  ]);
  for (const refusal of refusals)
    expect(refusal).toMatchObject({ reason: { code: "not_found", message: "Namespace not found" } });
  await expect(findSchedule(ada.actor, { ...of, scheduleId: "../x" })).rejects.toMatchObject({ code: "not_found" });
  const rows = Array.from({ length: 98 }, (_, at) => ({
    id: `${at}`.padStart(24, "0"),
    ownerId: ada.id,
    ownerKind: "user",
    spec,
    schedule: "@hourly",
  }));
  await db().scheduledJob.createMany({ data: rows });
  const outcomes = await Promise.allSettled([1, 2, 3].map(() => createSchedule(ada.actor, ada.username, hourly, from)));
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});

test("S137 an owner's schedules have at most 4 MB of commands, variables and secrets together", async () => {
  const { ada, id } = await scheduled();
  const ofBytes = (bytes: number) => ({ ...spec, environment: { A: "x".repeat(bytes) } });
  await db().scheduledJob.update({ where: { id }, data: { spec: ofBytes(3_998_000) } });
  const add = (bytes: number) => createSchedule(ada.actor, ada.username, { ...hourly, spec: ofBytes(bytes) }, from);
  await expect(add(2_000)).rejects.toMatchObject({ code: "conflict", message: expect.stringContaining("at most 4 MB") });
  await add(10);
  expect(await db().scheduledJob.count({ where: { ownerId: ada.id } })).toBe(2);
});

test("S128 users take turns, so that one user's many schedules do not delay another's", async () => {
  await pool().query("delete from scheduled_job");
  const eve = await signedInPerson();
  for (let each = 0; each < 3; each++) {
    const { name } = await organizationOf(eve);
    for (let nth = 0; nth < 3; nth++)
      await makeDue((await createSchedule(eve.actor, name, hourly, from)).schedule.id, "1 minute");
  }
  const { id } = await scheduled();
  await makeDue(id);
  const { rows } = await claimRows<ClaimedSchedule>(scheduleTable, 2);
  expect(rows.map((row) => row.id)).toContain(id);
  expect(rows).toHaveLength(2);
});

test("S137 at most 500 schedules run in a user's name, in all organizations together", async () => {
  const [ada, eve] = [await signedInPerson(), await signedInPerson()];
  const { name } = await organizationOf(ada, [[eve, "admin"]]);
  const create = async (input: Partial<NewSchedule> = {}, by = ada) => {
    const { schedule } = await createSchedule(by.actor, name, { ...hourly, ...input }, from);
    return { namespace: name, scheduleId: schedule.id };
  };
  const [first, others, suspended] = [await create(), await create({}, eve), await create({ isSuspended: true })];
  await db().scheduledJob.createMany({
    data: Array.from({ length: 498 }, (_, at) => ({
      id: newId(),
      ownerId: `elsewhere ${at % 5}`,
      ownerKind: "organization",
      createdById: ada.id,
      spec,
      schedule: "@hourly",
    })),
  });
  const outcomes = await Promise.allSettled([create(), create()]);
  expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  const refusal = { code: "conflict", message: expect.stringContaining("500 schedules already run in your name") };
  await expect(create()).rejects.toMatchObject(refusal);
  await expect(resumeSchedule(ada.actor, suspended, from)).rejects.toMatchObject(refusal);
  await expect(updateSchedule(ada.actor, others, { mayOverlap: true }, from)).rejects.toMatchObject(refusal);
  await updateSchedule(ada.actor, first, { mayOverlap: true }, from);
  await create({ isSuspended: true });
  await suspendSchedule(ada.actor, first, from);
  await resumeSchedule(ada.actor, suspended, from);
});
