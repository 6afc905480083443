import * as hub from "@huggingface/hub";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { organizationOf } from "#core/accounts/testing/people.ts";
import { db, pool } from "#core/db.ts";
import { provideSettings } from "#core/env.ts";
import { newId } from "#core/ids.ts";
import { appendLog } from "#core/jobs/logs/log-writer.ts";
import { JOB_LOG_CHANNEL } from "#core/jobs/stages.ts";
import { type Caller, sendAs, someCaller } from "./testing/hub-caller.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

let world: Awaited<ReturnType<typeof startApiWorld>>;
let ada: Caller;
beforeAll(async () => {
  provideSettings({ TOKEN_PREFIX: "hf_" });
  world = await startApiWorld();
  ada = await someCaller("jobs");
});
afterAll(async () => {
  await world.stop();
  provideSettings({ TOKEN_PREFIX: "kh_" });
});

const send = (caller: Caller | undefined, method: string, path: string, body?: unknown) =>
  sendAs(caller, method, world.origin + path, body);

const recorded = {
  command: ["python", "-c", "print('Hello')"],
  arguments: [],
  environment: { FOO: "bar" },
  flavor: "cpu-basic",
  secrets: { HF_TOKEN: "hf_very_secret" },
  timeoutSeconds: 300,
  labels: { name: "python-3.12-1a2b3c4d" },
  dockerImage: "python:3.12",
};

const jobsOf = ({ username }: { username: string }) => `/api/jobs/${username}`;
const schedulesOf = ({ username }: { username: string }) => `/api/scheduled-jobs/${username}`;

async function* textOf({ body }: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const piece of body as ReadableStream<Uint8Array>) yield decoder.decode(piece, { stream: true });
}

async function someRun(caller = ada, changes: object = {}): Promise<string> {
  const { status, body } = await send(caller, "POST", jobsOf(caller), { ...recorded, ...changes });
  expect(status, JSON.stringify(body)).toBe(200);
  return body.id;
}

async function worker(runId: string) {
  const claimId = newId();
  const to = (data: object) => db().jobRun.update({ where: { id: runId }, data, select: { id: true } });
  await to({ claimId, claimedUntil: new Date(Date.now() + 60_000), stage: "RUNNING", startedAt: new Date() });
  return {
    say: (text: string, stream: "stdout" | "stderr" | "system" = "stdout") =>
      appendLog(runId, claimId, [{ at: new Date(), stream, text }]),
    end: async (exitCode = 0) => {
      await to({ stage: exitCode === 0 ? "COMPLETED" : "ERROR", exitCode, finishedAt: new Date() });
      await pool().query("select pg_notify($1, $2)", [JOB_LOG_CHANNEL, runId]);
    },
  };
}

test("the API answers run_job, inspect_job, cancel_job and update_job_labels", async () => {
  const { status, body: job } = await send(ada, "POST", jobsOf(ada), recorded);
  expect(status).toBe(200);
  const { secrets: _, ...spec } = recorded;
  expect(job).toMatchObject({
    ...spec,
    id: expect.stringMatching(/^[0-9a-f]{24}$/),
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]+\.\d{3}Z$/),
    status: { stage: "SCHEDULING", message: null },
    owner: { id: ada.id, name: ada.username, type: "user" },
    initiator: { type: "user", id: ada.id, name: ada.username },
    durations: { schedulingSecs: expect.any(Number), runningSecs: null, totalSecs: expect.any(Number) },
    secrets: ["HF_TOKEN"],
  });
  const at = `${jobsOf(ada)}/${job.id}`;
  const inspected = await send(ada, "GET", at);
  expect(inspected).toMatchObject({ status: 200, body: { id: job.id, timeoutSeconds: 300 } });
  expect(JSON.stringify(inspected.body)).not.toContain("hf_very_secret");

  const relabelled = await send(ada, "PUT", `${at}/labels`, { labels: { team: "tides" } });
  expect(relabelled).toMatchObject({ status: 200, body: { labels: { team: "tides" }, dockerImage: "python:3.12" } });
  expect((await send(ada, "PUT", `${at}/labels`, { labels: { "no spaces": "x" } })).status).toBe(400);

  const again = await send(ada, "POST", `${at}/duplicate`);
  expect(again.body).toMatchObject({
    initiator: { type: "duplicated-job", id: job.id },
    secrets: ["HF_TOKEN"],
    command: recorded.command,
  });
  expect(again.body.id).not.toBe(job.id);

  expect((await send(ada, "POST", `${at}/cancel`)).body.status.stage).toBe("CANCELED");
  expect((await send(ada, "POST", `${at}/cancel`)).status).toBe(200);
  expect((await send(ada, "GET", at)).body).toMatchObject({ status: { stage: "CANCELED" }, finishedAt: expect.any(String) });
  for (const route of ["expose", "metrics"] as const) {
    const refused = await send(
      ada,
      route === "expose" ? "PUT" : "GET",
      `${at}/${route}`,
      route === "expose" ? { ports: [80] } : undefined,
    );
    expect(refused).toMatchObject({ status: 400, body: { error: expect.stringMatching(/here|no URL|does not measure/) } });
  }
});

test("list_jobs by stage and label follows Link, page by page", async () => {
  const eve = await someCaller("jobs");
  const ids: string[] = [];
  for (const team of ["a", "b", "a", "a"]) ids.push(await someRun(eve, { labels: { team } }));
  await send(eve, "POST", `${jobsOf(eve)}/${ids[3]}/cancel`);
  const seen: string[] = [];
  let next: string | undefined = `${jobsOf(eve)}?stage=RUNNING&stage=SCHEDULING&label=team%3Da&limit=1`;
  while (next) {
    const page = await send(eve, "GET", next);
    for (const { id, secrets } of page.body) expect([seen.push(id), secrets]).toEqual([seen.length, undefined]);
    next = /<([^>]+)>; rel="next"/.exec(page.headers.get("link") ?? "")?.[1]?.slice(world.origin.length);
  }
  expect(seen).toEqual([ids[2], ids[0]]);
  const numbers = await Promise.all(
    ["", "?stage=CANCELED", "?stage=DELETED", "?label=team%3Da&label=name%3Dx"].map((query) =>
      send(eve, "GET", `${jobsOf(eve)}/count${query}`),
    ),
  );
  expect(numbers.map(({ body }) => body.count)).toEqual([4, 1, 0, 0]);
  for (const wrong of ["?label=x", "?cursor=x", "?limit=x", `?stage=${"&stage=x".repeat(30)}`])
    expect((await send(eve, "GET", jobsOf(eve) + wrong)).status, wrong).toBe(400);
});

describe("fetch_job_logs", () => {
  async function* read(path: string): AsyncGenerator<string> {
    const response = await fetch(world.origin + path, { headers: { authorization: `Bearer ${ada.accessToken}` } });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    let left = "";
    for await (const piece of textOf(response)) {
      const lines = (left + piece).split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/);
      left = lines.pop() ?? "";
      for (const line of lines) if (line.startsWith("data: {")) yield JSON.parse(line.slice(6)).data;
    }
  }
  const all = async (path: string) => {
    const told: string[] = [];
    for await (const line of read(path)) told.push(line);
    return told;
  };

  test("sends each line from the start when it is written, and ends with the job", async () => {
    const id = await someRun();
    const { say, end } = await worker(id);
    await say("first\nsec");
    await say("a note", "stderr");
    const live = read(`${jobsOf(ada)}/${id}/logs`);
    expect((await live.next()).value).toBe("first");
    await say("ond\r\n\n\u2028 and \x85 and \x0b\n");
    expect([(await live.next()).value, (await live.next()).value]).toEqual(["second", ""]);
    expect((await live.next()).value).toBe("\u2028 and \x85 and \x0b");
    await say("no end");
    await end();
    const whole = ["first", "second", "", "\u2028 and \x85 and \x0b", "a note", "no end"];
    expect([(await live.next()).value, (await live.next()).value, (await live.next()).done]).toEqual(["a note", "no end", true]);
    expect(await all(`${jobsOf(ada)}/${id}/logs`)).toEqual(whole);
    expect(await all(`${jobsOf(ada)}/${id}/logs?tail=2`)).toEqual([whole[3], "no end"]);
    expect((await send(ada, "GET", `${jobsOf(ada)}/${id}/logs?tail=x`)).status).toBe(400);
  });

  test("the stages are sent as they change", async () => {
    const id = await someRun();
    const stages: string[] = [];
    const response = await fetch(`${world.origin}${jobsOf(ada)}/${id}/events`, {
      headers: { authorization: `Bearer ${ada.accessToken}` },
    });
    let running: Awaited<ReturnType<typeof worker>> | undefined;
    for await (const piece of textOf(response)) {
      const data = /^data: (.*)$/m.exec(piece)?.[1];
      if (data) stages.push(JSON.parse(data).status.stage);
      if (stages.length === 1) {
        running = await worker(id);
        await running.say("hello\n");
      } else await running?.end(3);
    }
    expect(stages).toEqual(["SCHEDULING", "RUNNING", "ERROR"]);
  });
});

test("the public hub's unmodified JavaScript client runs, follows and schedules jobs", async () => {
  const client = { hubUrl: world.origin, accessToken: ada.accessToken, namespace: ada.username };
  const { HF_TOKEN } = recorded.secrets;
  const options = { dockerImage: "node", command: ["node", "-v"], flavor: "cpu-basic", timeoutSeconds: 60 } as const;
  const job = await hub.runJob({
    ...client,
    ...options,
    command: [...options.command],
    arguments: ["--x"],
    secrets: { HF_TOKEN },
  });
  expect(job).toMatchObject({
    type: "job",
    command: ["node", "-v"],
    arguments: ["--x"],
    secrets: ["HF_TOKEN"],
    status: { failureCount: 0 },
  });
  const running = await worker(job.id);
  await running.say("v24\nbye\n");
  await running.end(1);
  const lines: string[] = [];
  for await (const line of hub.streamJobLogs({ ...client, jobId: job.id })) lines.push(line.message);
  expect(lines).toEqual(["v24", "bye"]);
  expect((await hub.getJob({ ...client, jobId: job.id })).status).toMatchObject({ stage: "ERROR", failureCount: 1 });
  const again = await hub.duplicateJob({ ...client, jobId: job.id });
  await hub.cancelJob({ ...client, jobId: again.id });
  expect((await hub.listJobs(client))[0]).toMatchObject({ id: again.id, status: { stage: "CANCELED" } });
  expect((await hub.listJobHardware(client)).map(({ name }) => name)).toContain("cpu-basic");

  const jobSpec = { ...options, command: [...options.command] };
  const { id: jobId } = await hub.createScheduledJob({ ...client, jobSpec, schedule: "0 9 * * 1" });
  await hub.suspendScheduledJob({ ...client, jobId });
  expect(await hub.listScheduledJobs(client)).toMatchObject([{ id: jobId, suspend: true, jobSpec: { timeoutSeconds: 60 } }]);
  await hub.resumeScheduledJob({ ...client, jobId });
  await hub.runScheduledJob({ ...client, jobId });
  await hub.deleteScheduledJob({ ...client, jobId });
  await expect(hub.getScheduledJob({ ...client, jobId })).rejects.toThrow("Scheduled job not found");
});

test("list_jobs_hardware needs no token, and names what this installation offers", async () => {
  const { status, body } = await send(undefined, "GET", "/api/jobs/hardware");
  expect(status).toBe(200);
  expect(body[0]).toMatchObject({
    name: "cpu-basic",
    prettyName: "CPU Basic",
    cpu: expect.stringMatching(/vCPU$/),
    unitCostUSD: 0,
    unitLabel: "minute",
  });
});

test("unsupported options of a run are refused by name unless they are empty", async () => {
  const nothing = {
    volumes: [],
    expose: null,
    ssh: { enabled: false },
    arch: "",
    resourceGroupId: null,
    attempts: 1,
    secrets: null,
  };
  await someRun(ada, nothing);
  const refused: [object, string][] = [
    [{ volumes: [{ type: "model", source: "a/b", mountPath: "/m" }] }, "volumes"],
    [{ expose: { ports: [8000] } }, "expose"],
    [{ ssh: { enabled: true } }, "ssh"],
    [{ arch: "arm64" }, "arch"],
    [{ resourceGroupId: "x" }, "resourceGroupId"],
    [{ attempts: 3 }, "attempts"],
    [{ flavor: "h200x8" }, "cpu-basic"],
    [{ flavor: undefined }, "flavor"],
    [{ dockerImage: undefined }, "image or a Space"],
    [{ dockerImage: "http://10.0.0.5:8443/x" }, "not the name of an image"],
    [{ spaceId: "a/b" }, "image or a Space"],
    [{ network: true }, "network"],
    [{ timeoutSeconds: 10 ** 9 }, "timeoutSeconds"],
    [{ environment: { "A-B": "x" } }, "environment"],
    [{ command: ["a\0b"] }, "NUL"],
    [{ environment: { A: "\ud800" } }, "Unicode"],
    [{ labels: { a: "b c" } }, "labels"],
    [{ environment: Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`V${at}`, "x".repeat(20_000)])) }, "Space"],
  ];
  for (const [changes, named] of refused) {
    const { status, body } = await send(ada, "POST", jobsOf(ada), { ...recorded, ...changes });
    expect([named, status, body.error]).toEqual([named, 400, expect.stringContaining(named)]);
  }
  expect((await send(ada, "POST", jobsOf(ada), { ...recorded, environment: { A: "x".repeat(2 ** 20) } })).status).toBe(413);
});

test("the API answers create_scheduled_job and the operations on a schedule", async () => {
  const { secrets, ...jobSpec } = recorded;
  const created = await send(ada, "POST", schedulesOf(ada), {
    jobSpec: { ...jobSpec, secrets },
    schedule: "@hourly",
    concurrency: false,
  });
  expect(created).toMatchObject({
    status: 200,
    body: {
      jobSpec: { ...jobSpec, secrets: ["HF_TOKEN"] },
      schedule: "@hourly",
      suspend: false,
      concurrency: false,
      owner: { id: ada.id, name: ada.username, type: "user" },
      status: { lastJob: null, nextJobRunAt: expect.any(String) },
    },
  });
  const at = `${schedulesOf(ada)}/${created.body.id}`;
  const run = await send(ada, "POST", `${at}/run`);
  expect(run.body).toMatchObject({ initiator: { type: "scheduled-job", id: created.body.id }, status: { stage: "SCHEDULING" } });
  expect((await send(ada, "POST", `${at}/run`)).status).toBe(409);
  const [listed] = (await send(ada, "GET", schedulesOf(ada))).body;
  expect(listed.status.lastJob).toEqual({ id: run.body.id, at: run.body.createdAt });
  expect((await send(ada, "POST", `${at}/suspend`)).body).toMatchObject({ suspend: true, status: { nextJobRunAt: null } });
  expect((await send(ada, "POST", `${at}/resume`)).body.suspend).toBe(false);
  const moved = await send(ada, "POST", `${at}/schedule`, {
    schedule: "0 9 * * 1",
    timezone: "Europe/Zurich",
    concurrency: true,
  });
  expect(moved.body).toMatchObject({ schedule: "0 9 * * 1", timezone: "Europe/Zurich", concurrency: true });
  expect((await send(ada, "PUT", `${at}/labels`, { labels: { a: "b" } })).body.jobSpec.labels).toEqual({ a: "b" });
  for (const schedule of ["", "every day", "* * * * * *", "0 0 30 2 *"])
    expect((await send(ada, "POST", schedulesOf(ada), { jobSpec, schedule })).status, schedule).toBe(400);
  expect(await send(ada, "DELETE", at)).toMatchObject({ status: 200, body: {} });
  expect((await send(ada, "GET", at)).status).toBe(404);
});

test("S135 S136 a refusal names the missing scope `jobs`, and other users' jobs look nonexistent", async () => {
  const unscoped = await someCaller("read-repos");
  const mine = await someRun(ada);
  const lacking = await send(unscoped, "GET", jobsOf(unscoped));
  expect(lacking).toMatchObject({ status: 403, body: { error: expect.stringContaining("jobs") } });
  const stranger = await someCaller("jobs");
  const member = await someCaller("jobs");
  const org = await organizationOf(ada, [[member, "read"]]);
  const routes: [string, string, object?][] = [
    ["GET", `/api/jobs/NAME`],
    ["POST", `/api/jobs/NAME`, recorded],
    ["GET", `/api/jobs/NAME/count`],
    ["GET", `/api/jobs/NAME/${mine}`],
    ["GET", `/api/jobs/NAME/${mine}/logs`],
    ["GET", `/api/jobs/NAME/${mine}/events`],
    ["POST", `/api/jobs/NAME/${mine}/cancel`],
    ["POST", `/api/jobs/NAME/${mine}/duplicate`],
    ["PUT", `/api/jobs/NAME/${mine}/labels`, { labels: {} }],
    ["GET", `/api/scheduled-jobs/NAME`],
    ["POST", `/api/scheduled-jobs/NAME`, { jobSpec: recorded, schedule: "@daily" }],
    ["POST", `/api/scheduled-jobs/NAME/${mine}/run`],
  ];
  for (const [method, path, body] of routes) {
    const of = (name: string) => send(stranger, method, path.replace("NAME", name), body);
    const [theirs, none] = [await of(ada.username), await of("nobody-of-that-name")];
    expect([path, theirs.status, theirs.body]).toEqual([path, 404, none.body]);
    expect((await send(member, method, path.replace("NAME", org.name), body)).status, path).toBe(404);
    expect((await send(undefined, method, path.replace("NAME", ada.username), body)).status, path).toBe(401);
  }
  const [foreign, unknown] = await Promise.all(
    [mine, "f".repeat(24)].map((id) => send(stranger, "GET", `${jobsOf(stranger)}/${id}`)),
  );
  expect([foreign?.status, foreign?.body]).toEqual([404, unknown?.body]);
  const ofOrg = await send(ada, "POST", `/api/jobs/${org.name}`, recorded);
  expect(ofOrg.body).toMatchObject({
    owner: { id: org.id, name: org.name, type: "org" },
    initiator: { type: "user", name: ada.username },
  });
});
