import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type JobSpec, jobSpecSchema } from "@keyhook/sdk";
import { afterAll, beforeEach, describe, expect, it, vi } from "vitest";
import { organizationOf, signedInPerson, type TestPerson } from "../../accounts/testing/people.ts";
import { noOrigin } from "../../audit/request-origin.ts";
import { db, pool } from "../../db.ts";
import { provideSettings } from "../../env.ts";
import { ServiceError } from "../../errors.ts";
import { newId } from "../../ids.ts";
import { stopListening } from "../../notifications.ts";
import { claimRows } from "../../postgres/leased-table.ts";
import { LOG_MAX_BYTES } from "../logs/log-writer.ts";
import { followLog, readLogEnd } from "../logs/read-log.ts";
import { bubblewrap } from "../runners/bubblewrap/bubblewrap.ts";
import { findRunner } from "../runners/find-runner.ts";
import type { Exit, Runner, Task } from "../runners/runner.ts";
import { cancelRun } from "./change-run.ts";
import { executeRun, type TakeFiles } from "./execute-run.ts";
import { findRun, listRuns } from "./find-run.ts";
import { type ClaimedRun, jobTable } from "./job-table.ts";
import { createRun, type NewRun } from "./request-run.ts";

beforeEach(() => pool().query("delete from job_run"));
afterAll(stopListening);

const sh = (script: string, more: Partial<JobSpec> = {}) => jobSpecSchema.parse({ command: ["sh", "-c", script], ...more });

async function newRun(spec: JobSpec, more: Partial<NewRun> = {}): Promise<string> {
  const owner = more.owner ?? { kind: "user", id: newId() };
  return createRun(db(), {
    owner,
    delegationId: null,
    createdById: null,
    initiator: { type: "user", id: owner.id },
    secrets: {},
    spec,
    ...more,
  });
}

it("S137 a page of a list ends after a megabyte of runs, and the next page continues", async () => {
  const ada = await signedInPerson();
  const owner = { kind: "user" as const, id: ada.id };
  const environment = Object.fromEntries(Array.from({ length: 15 }, (_, each) => [`LONG_${each}`, "x".repeat(30_000)]));
  const made: string[] = [];
  for (let each = 0; each < 5; each++) made.push(await newRun(sh("true", { environment }), { owner }));
  const pages: string[][] = [];
  for (let before: string | null | undefined; before !== null; ) {
    const { runs, next } = await listRuns(ada.actor, owner, { limit: 100, ...(before && { before }) });
    pages.push(runs.map(({ id }) => id));
    before = next;
  }
  const latest = made.toSorted().reverse();
  expect(pages).toEqual([latest.slice(0, 2), latest.slice(2, 4), latest.slice(4)]);
});

type More = { runner?: Runner; stopping?: AbortSignal; takeFiles?: TakeFiles };

async function claimAndRun({
  runner = bubblewrap,
  stopping = new AbortController().signal,
  takeFiles = async () => undefined,
}: More = {}) {
  const { claimId, rows } = await claimRows<ClaimedRun>(jobTable, 10);
  await Promise.all(rows.map((row) => executeRun(row, claimId, { takeFiles, mayReceive: async () => true, stopping, runner })));
  return rows.length;
}

const rowOf = (id: string) => db().jobRun.findUniqueOrThrow({ where: { id } });

const wholeLog = async (id: string) => (await readLogEnd(id, { lines: 10_000 })).chunks;

async function logOf(id: string): Promise<string> {
  return (await wholeLog(id)).map(({ stream, text }) => (stream === "stdout" ? text : `${stream}: ${text}`)).join("");
}

function runnerThat(end: (task: Task) => Promise<Exit>) {
  const tasks: Task[] = [];
  const kill = vi.fn();
  const runner: Runner = {
    name: "bubblewrap",
    async start(task) {
      tasks.push(task);
      return { exited: end(task), kill };
    },
  };
  return { runner, tasks, kill };
}

const untilEnded = ({ signal }: Task) =>
  new Promise<Exit>((resolve) => signal.addEventListener("abort", () => resolve({ kind: "exited", code: 143 })));

describe("a run", () => {
  it("S134 is executed once, and is recorded with its exit code and its output without secrets", async () => {
    const token = "s3cret-value";
    const script = `echo "$GREETING $TOKEN"; printf s3cret-; sleep 0.5; echo value; echo "$TOKEN" | base64; echo oh >&2; printf '\\377\\000 end'; exit 3`;
    const id = await newRun(sh(script, { environment: { GREETING: "good 'day'" } }), { secrets: { TOKEN: token } });
    expect(await claimAndRun()).toBe(1);
    expect(await claimAndRun()).toBe(0);
    const row = await rowOf(id);
    expect(row).toMatchObject({ stage: "ERROR", exitCode: 3, runner: "bubblewrap", attempts: 1, claimId: null });
    expect(row.finishedAt?.getTime()).toBeGreaterThanOrEqual(row.startedAt?.getTime() ?? Number.POSITIVE_INFINITY);
    const log = await logOf(id);
    expect(log).toContain("good 'day' ***\n***\n");
    expect(log).toContain("stderr: oh\n");
    expect(log).toContain("\uFFFD\uFFFD end");
    expect(log).toContain("system: The command ended with exit code 3.\n");
    expect(log).not.toMatch(/s3cret|czNjcmV0/);
    expect(Buffer.from(row.secrets ?? []).toString("latin1")).not.toContain(token);
  });

  it("S133 gets its payload in a variable and a file, or above the kernel's limit only in the file", async () => {
    const repo = { id: newId(), type: "model", name: "ada/tides" };
    const payload = (text: string) => JSON.stringify({ event: { scope: "repo", action: "create" }, repo, text });
    const most = "x".repeat(131_072 - "WEBHOOK_PAYLOAD=".length - 1 - payload("").length);
    const script = `printf '%s' "$WEBHOOK_PAYLOAD" | wc -c; wc -c < "$WEBHOOK_PAYLOAD_FILE"; echo $WEBHOOK_REPO_ID $WEBHOOK_REPO_TYPE $WEBHOOK_ID`;
    const deliveryId = newId();
    const of = (text: string) =>
      newRun(sh(script), { payload: payload(text), webhookId: newId(), deliveryId, deliveryTry: text.length });
    const [fits, over] = [await of(most), await of(`${most}x`)];
    await claimAndRun();
    const told = `${repo.id} model ${deliveryId}\n`;
    expect(await logOf(fits)).toBe(`${payload(most).length}\n${payload(most).length}\n${told}`);
    const log = await logOf(over);
    expect(log).toContain(`0\n${payload(most).length + 1}\n${told}`);
    expect(log).toContain("system: The payload has 131,056 bytes, more than a variable can hold: WEBHOOK_PAYLOAD is not set.");
    expect((await rowOf(over)).stage).toBe("COMPLETED");
  });

  it("S134 may have secrets with the maximum number of lines, each of which is masked", async () => {
    let count = 0;
    const line = () => ((count++ * 7919 + 1e7) % 9e7).toString(36).padStart(8, "x");
    const lines = Array.from({ length: 43_600 }, line);
    const secrets = Object.fromEntries(
      Array.from({ length: 12 }, (_, at) => [`S${at}`, lines.slice(at * 3_633, (at + 1) * 3_633).join("\n")]),
    );
    const id = await newRun(sh(`echo hello; sleep 1; echo ${lines[40_000]}; printf %s "$S3" | tail -c 17 | base64`), { secrets });
    await claimAndRun();
    expect((await rowOf(id)).stage).toBe("COMPLETED");
    const log = await logOf(id);
    expect(log).toMatch(/^hello\n\*\*\*\n/);
  });

  it("S132 stores only the allowed amount of output, and its log says so", async () => {
    const id = await newRun(sh("yes 0123456789abcdef", { timeoutSeconds: 3 }));
    await claimAndRun();
    const row = await rowOf(id);
    expect(row).toMatchObject({ stage: "ERROR", exitCode: 124 });
    expect(row.message).toContain("longer than its limit of 3 seconds");
    expect(row.logBytes).toBeGreaterThan(LOG_MAX_BYTES - 1024);
    expect(row.logBytes).toBeLessThan(LOG_MAX_BYTES + 1024);
    const end = (await wholeLog(id)).filter(({ stream }) => stream === "system").map(({ text }) => text);
    expect(end.join("")).toContain("Output beyond 8 MiB is not stored.");
  });

  it("can be followed while it runs, until everything was delivered", async () => {
    const id = await newRun(sh("echo one; sleep 1; echo two; printf three"));
    const seen: { text: string; stage: string }[] = [];
    const following = (async () => {
      for await (const { chunks, stage } of followLog(id, { signal: AbortSignal.timeout(20_000) })) {
        seen.push({ text: chunks.map(({ text }) => text).join(""), stage });
      }
    })();
    await claimAndRun();
    await following;
    expect(seen.map(({ text }) => text).join("")).toBe("one\ntwo\nthree");
    expect(seen.find(({ text }) => text.startsWith("one"))?.stage).toBe("RUNNING");
    expect(seen.at(-1)?.stage).toBe("COMPLETED");
  });

  it("is cancelled only by its owner, before it starts and while it runs", async () => {
    const [ada, bob] = await Promise.all([signedInPerson("ada"), signedInPerson("bob")]);
    const owner = { kind: "user", id: ada.id } as const;
    const waiting = await newRun(sh("true"), { owner });
    await cancelRun(ada.actor, owner, waiting, noOrigin);
    expect(await rowOf(waiting)).toMatchObject({ stage: "CANCELED", exitCode: null });

    const going = await newRun(sh("echo go; exec sleep 30"), { owner });
    await expect(cancelRun(bob.actor, owner, going, noOrigin)).rejects.toMatchObject({ code: "not_found" });
    await expect(findRun(bob.actor, { kind: "user", id: bob.id }, going)).rejects.toMatchObject({ code: "not_found" });
    const working = claimAndRun();
    await vi.waitFor(async () => expect(await logOf(going)).toBe("go\n"), { timeout: 10_000 });
    await cancelRun(ada.actor, owner, going, noOrigin);
    await working;
    expect(await findRun(ada.actor, owner, going)).toMatchObject({ stage: "CANCELED", exitCode: null, secretNames: [] });
    await cancelRun(ada.actor, owner, going, noOrigin);
    const recorded = await db().auditEvent.findMany({
      where: { type: "job.cancel" },
      orderBy: [{ createdAt: "asc" }, { id: "asc" }],
    });
    expect(recorded.map(({ actorId, data }) => ({ actorId, data }))).toEqual(
      [waiting, going].map((runId) => ({ actorId: ada.id, data: { runId } })),
    );
    expect((await listRuns(ada.actor, owner, { limit: 1 })).runs.map(({ id }) => id)).toEqual([going]);
  });
});

describe("a run whose files are still being written", () => {
  it.each(["cancelled", "stopping", "lost"])("gets no more files once it is %s, and leaves none behind", async (why) => {
    const ada = await signedInPerson();
    const owner = { kind: "user", id: ada.id } as const;
    const id = await newRun(sh("true", { spaceId: "ada/tides" }), { owner });
    const stopping = new AbortController();
    const { runner, tasks } = runnerThat(untilEnded);
    let folder = "";
    const takeFiles: TakeFiles = async (_space, _of, directory, { signal }) => {
      await writeFile(join(directory, "first"), "1");
      folder = directory;
      await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    };
    const working = claimAndRun({ runner, takeFiles, stopping: stopping.signal });
    await vi.waitFor(() => expect(folder).not.toBe(""));
    if (why === "cancelled") await cancelRun(ada.actor, owner, id, noOrigin);
    else if (why === "stopping") stopping.abort();
    else await pool().query("update job_run set claim_id = 'another'");
    await working;
    expect(tasks).toEqual([]);
    expect(existsSync(folder)).toBe(false);
    const ended = {
      cancelled: { stage: "CANCELED", message: "The job was cancelled." },
      stopping: { stage: "ERROR", message: expect.stringContaining("The worker stopped") },
      lost: { stage: "RUNNING", claimId: "another" },
    };
    expect(await rowOf(id)).toMatchObject(ended[why as keyof typeof ended]);
  });
});

describe("an owner who is disabled", () => {
  it("S112 has no runs, because running ones end and waiting ones do not begin", async () => {
    const ada = await signedInPerson();
    const owner = { kind: "user", id: ada.id } as const;
    const going = await newRun(sh("echo go; exec sleep 30"), { owner });
    const working = claimAndRun();
    await vi.waitFor(async () => expect(await logOf(going)).toBe("go\n"), { timeout: 10_000 });
    const waiting = await newRun(sh("true"), { owner });
    await db().user.update({ where: { id: ada.id }, data: { disabledAt: new Date() } });
    await working;
    expect(await rowOf(going)).toMatchObject({ stage: "CANCELED", exitCode: null });
    const { runner, tasks } = runnerThat(untilEnded);
    await claimAndRun({ runner });
    expect(tasks).toEqual([]);
    expect(await rowOf(waiting)).toMatchObject({ stage: "CANCELED" });
  });
});

describe("the user who started a run of an organization", () => {
  it("S112 S132 must still be allowed to run jobs in the organization when the run begins", async () => {
    const admin = await signedInPerson();
    const [left, disabled, demoted, stays] = await Promise.all([1, 2, 3, 4].map(() => signedInPerson()));
    const members = [left, disabled, demoted, stays].map((person) => [person, "write"] as [TestPerson, string]);
    const organization = await organizationOf(admin, members);
    const owner = { kind: "organization", id: organization.id } as const;
    const by = (person: TestPerson | undefined, more: Partial<NewRun> = {}) =>
      newRun(sh("true"), { owner, createdById: person?.id ?? null, ...more });
    const refused = [await by(left), await by(disabled), await by(demoted)];
    const begun = [await by(stays), await by(left, { webhookId: newId(), deliveryId: newId(), deliveryTry: 1, payload: "{}" })];
    await db().membership.deleteMany({ where: { userId: left?.id ?? "" } });
    await db().user.update({ where: { id: disabled?.id ?? "" }, data: { disabledAt: new Date() } });
    await db().membership.updateMany({ where: { userId: demoted?.id ?? "" }, data: { role: "read" } });
    const { runner, tasks } = runnerThat(async () => ({ kind: "exited", code: 0 }));
    await claimAndRun({ runner });
    expect(tasks.map(({ id }) => id).sort()).toEqual(begun.sort());
    for (const id of refused) expect(await rowOf(id)).toMatchObject({ stage: "CANCELED" });
  });
});

describe("a worker", () => {
  it("that is lost leaves a run that ends as the runner's failure and is not started again", async () => {
    const id = await newRun(sh("echo again"));
    await pool().query(
      "update job_run set stage = 'RUNNING', started_at = now(), claimed_until = now() - interval '1 second', claim_id = 'gone'",
    );
    const { runner, tasks } = runnerThat(untilEnded);
    await claimAndRun({ runner });
    expect(tasks).toEqual([]);
    expect(await rowOf(id)).toMatchObject({
      stage: "ERROR",
      exitCode: null,
      message: expect.stringContaining("The worker stopped"),
    });
    expect(await logOf(id)).toContain("was not run again");
  });

  it("S132 that is lost leaves nothing of a run that is cancelled before another worker takes over", async () => {
    const ada = await signedInPerson();
    const owner = { kind: "user", id: ada.id } as const;
    const id = await newRun(sh("sleep 30"), { owner });
    await pool().query(
      "update job_run set stage = 'RUNNING', started_at = now(), claimed_until = now() - interval '1 second', claim_id = 'gone'",
    );
    await cancelRun(ada.actor, owner, id, noOrigin);
    const { runner } = runnerThat(untilEnded);
    const endLeftovers = vi.fn(async () => undefined);
    await claimAndRun({ runner: { ...runner, endLeftovers } });
    expect(endLeftovers).toHaveBeenCalledWith(id);
    expect(await rowOf(id)).toMatchObject({ stage: "CANCELED", exitCode: null, message: "The job was cancelled." });
  });

  it("whose run another worker has taken over ends the run at once and records nothing", async () => {
    const id = await newRun(sh("true"));
    const { runner, tasks, kill } = runnerThat(untilEnded);
    const working = claimAndRun({ runner });
    await vi.waitFor(() => expect(tasks.length).toBe(1));
    await pool().query("update job_run set claim_id = 'another'");
    await working;
    expect(kill).toHaveBeenCalled();
    expect(await rowOf(id)).toMatchObject({ stage: "RUNNING", claimId: "another", finishedAt: null });
    expect(await logOf(id)).toBe("");
  });

  it("that is stopped ends its runs as interrupted within a short time", async () => {
    const id = await newRun(sh("sleep 30"));
    const stopping = new AbortController();
    const { runner, tasks } = runnerThat(untilEnded);
    const working = claimAndRun({ runner, stopping: stopping.signal });
    await vi.waitFor(() => expect(tasks.length).toBe(1));
    stopping.abort();
    await working;
    expect(await rowOf(id)).toMatchObject({ stage: "ERROR", exitCode: null });
  });
});

describe("the worker of a run", () => {
  it("names the reason if the run is impossible", async () => {
    const failing: [Partial<JobSpec>, string][] = [
      [{ flavor: "a100-large" }, "machine size a100-large no longer exists"],
      [{ network: true }, "JOBS_NETWORK=1"],
      [{ spaceId: "ada/nothing" }, "The Space ada/nothing is not there."],
    ];
    const ids = [];
    for (const [more] of failing) ids.push(await newRun(sh("true", more)));
    const takeFiles: TakeFiles = async ({ spaceId }) => {
      throw new ServiceError("not_found", `The Space ${spaceId} is not there.`);
    };
    await claimAndRun({ takeFiles });
    for (const [index, id] of ids.entries()) {
      const { stage, exitCode, message } = await rowOf(id);
      expect({ stage, exitCode }).toEqual({ stage: "ERROR", exitCode: null });
      expect(message).toContain(failing[index]?.[1]);
    }
    const sealed = await newRun(sh("true"), { secrets: { TOKEN: "some value" } });
    await pool().query("update job_run set secrets = decode('00', 'hex') where id = $1", [sealed]);
    await claimAndRun();
    expect((await rowOf(sealed)).message).toContain("SECRET_KEY");
  });

  it("S132 finds no runner if JOBS_RUNNER is off, and bubblewrap if JOBS_RUNNER is auto", async () => {
    provideSettings({ JOBS_RUNNER: "off" });
    expect(await findRunner()).toMatchObject({ refusal: expect.stringContaining("JOBS_RUNNER") });
    provideSettings({ JOBS_RUNNER: "auto" });
    expect(await findRunner()).toMatchObject({ name: "bubblewrap" });
  });
});
