import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jobSpecSchema } from "@keyhook/sdk";
import { expect, it, onTestFinished } from "vitest";
import type { TokenHolder } from "../../access/actor.ts";
import { from, organizationOf, signedInPerson } from "../../accounts/testing/people.ts";
import { db } from "../../db.ts";
import { createRepo } from "../../hub/repos/create-repo.ts";
import { moveRepo } from "../../hub/repos/move-repo.ts";
import { commitTo, someRepo } from "../../hub/testing/repos.ts";
import { executeRun } from "../../jobs/runs/execute-run.ts";
import type { ClaimedRun } from "../../jobs/runs/job-table.ts";
import { duplicateRun, requestRun } from "../../jobs/runs/request-run.ts";
import { createSchedule, updateSchedule } from "../../jobs/schedules/change-schedule.ts";
import { findSchedule } from "../../jobs/schedules/find-schedule.ts";
import { scheduleTable } from "../../jobs/schedules/schedule.ts";
import { type ClaimedSchedule, runScheduleNow, startDueRun } from "../../jobs/schedules/start-due-run.ts";
import { claimRows } from "../../postgres/leased-table.ts";
import { takeSpaceFiles } from "./lay-out-files.ts";

function emptyDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "keyhook-files-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

const how = (signal = new AbortController().signal) => ({ note: () => undefined, signal });

const tokenOf = ({ id }: { id: string }, ...scopes: TokenHolder["scopes"]): TokenHolder => ({
  kind: "token",
  ...{ tokenId: "a token", userId: id, scopes, orgIds: "all", clientId: null },
});

it("S136 a job gets the files of a Space only if both its owner and its starter may read them", async () => {
  const [ada, bob, eve] = await Promise.all([signedInPerson("ada"), signedInPerson("bob"), signedInPerson("eve")]);
  const organization = await organizationOf(ada, [[bob, "read"]]);
  const own = await someRepo(ada, { type: "space", isPrivate: true, sdk: "docker" });
  const shared = await someRepo(ada, { type: "space", isPrivate: true, sdk: "docker", owner: organization.name });
  const open = await someRepo(ada, { type: "space", sdk: "docker" });
  for (const repo of [own, shared, open]) await commitTo(repo, ada, { "app.py": repo.fullName, "deep/er/data.txt": "1" });

  const person = ({ id }: { id: string }) => ({ kind: "user", id }) as const;
  const org = { kind: "organization", id: organization.id } as const;
  const allowed = [
    [own, person(ada), ada.actor],
    [shared, person(bob), bob.actor],
    [shared, org, bob.actor],
    [open, person(eve), eve.actor],
    [open, org, ada.actor],
    [own, person(ada), tokenOf(ada, "jobs", "read-repos")],
  ] as const;
  for (const [repo, owner, delegate] of allowed) {
    const directory = emptyDirectory();
    await takeSpaceFiles({ spaceId: repo.fullName }, { owner, delegate }, directory, how());
    expect(readFileSync(join(directory, "app.py"), "utf8")).toBe(repo.fullName);
    expect(readFileSync(join(directory, "deep/er/data.txt"), "utf8")).toBe("1");
  }
  const refused = [
    [own.fullName, person(bob), bob.actor],
    [own.fullName, org, ada.actor],
    [shared.fullName, person(eve), eve.actor],
    [shared.fullName, org, eve.actor],
    [shared.fullName, org, undefined],
    // The token lacks the scope `read-repos`.
    [own.fullName, person(ada), tokenOf(ada, "jobs")],
    [`${ada.username}/nothing`, person(ada), ada.actor],
    ["nobody/nothing", person(ada), ada.actor],
  ] as const;
  for (const [name, owner, delegate] of refused) {
    const directory = emptyDirectory();
    await expect(takeSpaceFiles({ spaceId: name }, { owner, delegate }, directory, how())).rejects.toMatchObject({
      code: "not_found",
      message: `The Space ${name} does not exist, or the job's owner or whoever started the job cannot read it. Check the name, and that both have access.`,
    });
    expect(readdirSync(directory)).toEqual([]);
  }
  const empty = await someRepo(ada, { type: "space", sdk: "docker" });
  await expect(
    takeSpaceFiles({ spaceId: empty.fullName }, { owner: person(ada), delegate: ada.actor }, emptyDirectory(), how()),
  ).rejects.toMatchObject({
    code: "invalid_request",
  });
});

it("taking a Space's files ends when the files are no longer needed", async () => {
  const ada = await signedInPerson();
  const space = await someRepo(ada, { type: "space", sdk: "docker" });
  await commitTo(space, ada, { "app.py": "1" });
  const directory = emptyDirectory();
  const of = { owner: { kind: "user", id: ada.id }, delegate: ada.actor } as const;
  const left = takeSpaceFiles({ spaceId: space.fullName }, of, directory, how(AbortSignal.abort("left")));
  await expect(left).rejects.toBe("left");
  expect(readdirSync(directory)).toEqual([]);
});

it("S151 a job with the name of a Space runs only that Space's files, and not those of a later Space with the name", async () => {
  const [ada, bob] = await Promise.all([signedInPerson("ada"), signedInPerson("bob")]);
  const org = await organizationOf(ada, [[bob, "contributor"]]);
  const tool = await someRepo(ada, { type: "space", sdk: "docker", owner: org.name });
  await commitTo(tool, ada, { "run.sh": "ada's" });
  const spec = jobSpecSchema.parse({ spaceId: tool.fullName, command: ["sh", "run.sh"] });
  const asked = { spec, secrets: { KEY: "hush" } };
  const { schedule } = await createSchedule(ada.actor, org.name, { ...asked, schedule: "@hourly" }, from);
  const of = { namespace: org.name, scheduleId: schedule.id };
  const request = async () => (await requestRun(ada.actor, org.name, asked, from)).runId;
  /** What the job's command finds in its directory. */
  const execute = async (id: string) => {
    await db().jobRun.update({ where: { id }, data: { claimId: "claim", claimedUntil: new Date(Date.now() + 20_000) } });
    const [row] = await db().$queryRaw<ClaimedRun[]>`SELECT * FROM job_run WHERE id = ${id}`;
    let found: string | undefined;
    const start = async ({ filesDirectory = "" }: { filesDirectory?: string | undefined }) => {
      found = readFileSync(join(filesDirectory, "run.sh"), "utf8");
      return { exited: Promise.resolve({ kind: "exited", code: 0 }), kill: () => undefined };
    };
    await executeRun(row as ClaimedRun, "claim", {
      ...{ takeFiles: takeSpaceFiles, mayReceive: async () => true, stopping: new AbortController().signal },
      runner: { name: "unsandboxed", start } as never,
    });
    return found;
  };
  const name = { type: "space", owner: org.name, name: tool.name } as const;
  const moved = await moveRepo(ada.actor, name, { owner: org.name, name: `${tool.name}-2` }, from);
  expect(await execute(await request())).toBe("ada's");
  const [waiting, finished] = [await request(), await request()];
  expect(await execute(finished)).toBe("ada's");

  // The former name is free, and a contributor may neither run the organization's jobs nor read their secrets.
  const later = await createRepo(bob.actor, { ...name, sdk: "docker" }, from);
  await commitTo(later, bob, { "run.sh": "bob's" });
  expect(await execute(waiting)).toBeUndefined();
  for (const again of [
    () => runScheduleNow(ada.actor, of, from),
    () => updateSchedule(ada.actor, of, { mayOverlap: true }, from),
    () => duplicateRun(ada.actor, org.name, finished, from),
  ])
    await expect(again()).rejects.toMatchObject({ code: "conflict", message: expect.stringContaining(tool.fullName) });
  await db().scheduledJob.update({ where: { id: schedule.id }, data: { dueAt: new Date(0) } });
  const { claimId, rows } = await claimRows<ClaimedSchedule>(scheduleTable, 50);
  for (const row of rows) await startDueRun(row, claimId);
  expect((await findSchedule(ada.actor, of)).schedule).toMatchObject({
    isSuspended: true,
    message: expect.stringContaining(tool.fullName),
    lastRun: null,
  });
  // A request that uses the name now means the later Space.
  expect(await execute(await request())).toBe("bob's");

  const run = { ...asked, spec: { ...spec, spaceId: moved.fullName } };
  const { runId } = await requestRun(ada.actor, org.name, run, from);
  await moveRepo(ada.actor, { ...name, name: moved.name }, { owner: ada.username, name: moved.name }, from);
  expect(await execute(runId)).toBeUndefined();
});
