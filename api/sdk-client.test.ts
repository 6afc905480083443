import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { ApiError, createClient, type DeliveryJson } from "@keyhook/sdk";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { organizationOf } from "#core/accounts/testing/people.ts";
import { db, pool } from "#core/db.ts";
import { provideSettings } from "#core/env.ts";
import { newId } from "#core/ids.ts";
import { listen } from "#core/notifications.ts";
import { DeliveryEngine } from "#core/webhooks/delivery/delivery-engine.ts";
import { queueDeliveries, webhookTo } from "#core/webhooks/testing/deliveries.ts";
import { ACTIVITY_CHANNEL, DELIVERY_CHANNEL } from "#core/webhooks/vocabulary.ts";
import { type Caller, someCaller } from "./testing/hub-caller.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

let world: Awaited<ReturnType<typeof startApiWorld>>;
let ada: Caller;
beforeAll(async () => {
  world = await startApiWorld();
  provideSettings({ OUTBOUND_ALLOW_CIDRS: "127.0.0.1" });
  ada = await someCaller("webhooks", "jobs", "manage-repos", "write-discussions");
});
afterAll(() => world.stop());

const clientOf = (caller: Caller | undefined = ada) => createClient({ baseUrl: world.origin, token: caller?.accessToken });

async function all<T>(list: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of list) items.push(item);
  return items;
}

async function refusal(work: Promise<unknown>): Promise<ApiError> {
  const error = await work.then(
    () => expect.unreachable("it went through"),
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(ApiError);
  return error;
}

async function startReceiver(answer: () => number = () => 200) {
  const received: http.IncomingHttpHeaders[] = [];
  const server = http.createServer((req, res) =>
    req.resume().on("end", () => {
      received.push(req.headers);
      res.writeHead(answer()).end("ok");
    }),
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, received };
}

async function startEngine(): Promise<void> {
  const engine = new DeliveryEngine();
  await listen(DELIVERY_CHANNEL, () => engine.announce());
  engine.start();
  onTestFinished(() => engine.stop());
}

test("the client returns the token's user, and the reason if the token is refused", async () => {
  expect(await clientOf().whoami()).toMatchObject({ type: "user", id: ada.id });
  const none = createClient({ baseUrl: world.origin });
  expect(await refusal(none.whoami())).toMatchObject({ status: 401, message: expect.stringContaining("Sign in again") });
  const scopeless = clientOf(await someCaller("jobs"));
  expect(await refusal(scopeless.webhooks.list())).toMatchObject({ status: 403, code: "insufficient_scope", scope: "webhooks" });
});

describe("webhooks", () => {
  const watched = () => [{ type: "user" as const, name: ada.username }];

  test.each(["one's own", "an organization's"])(
    "%s are created, read, changed, turned off and on, and deleted",
    async (whose) => {
      const { webhooks } = clientOf();
      const organization = whose === "one's own" ? undefined : (await organizationOf(ada)).name;
      const owner = { organization };
      const made = await webhooks.create({ url: "https://example.com/hook", watched: watched(), generateSecret: true }, owner);
      expect(made).toMatchObject({ status: "enabled", domains: ["repo", "discussion"], hasSecret: true });
      expect(made.owner).toMatchObject(organization ? { name: organization, type: "org" } : { id: ada.id, type: "user" });
      expect(made.secret).toMatch(/^whsec_/);
      const { secret: _, ...record } = made;
      expect(await webhooks.get(made.id, owner)).toEqual(record);
      expect((await webhooks.list(owner)).map(({ id }) => id)).toContain(made.id);
      const changed = await webhooks.update(made.id, { url: "https://example.com/other", domains: ["discussion"] }, owner);
      expect(changed).toMatchObject({ url: "https://example.com/other", domains: ["discussion"], watched: record.watched });
      expect(await webhooks.disable(made.id, owner)).toMatchObject({ status: "disabled", disabled: true });
      expect(await webhooks.enable(made.id, owner)).toMatchObject({ status: "enabled", disabled: false });
      expect((await webhooks.rotateSecret(made.id, owner)).secret).not.toBe(made.secret);
      expect(await webhooks.delete(made.id, owner)).toBeUndefined();
      expect(await refusal(webhooks.get(made.id, owner))).toMatchObject({ status: 404, code: "not_found" });
    },
  );

  test("are refused with the field and advice if they are invalid", async () => {
    const { webhooks } = clientOf();
    const error = await refusal(webhooks.create({ url: "ftp://example.com", watched: watched() }));
    expect(error).toMatchObject({ status: 400, code: "invalid_request", field: "url" });
    expect(
      await refusal(webhooks.create({ url: "https://example.com", watched: [{ type: "kernel" as never, name: "x" }] })),
    ).toMatchObject({
      field: "watched.0.type",
      message: expect.stringContaining("use one of dataset"),
    });
    expect(await refusal(webhooks.get("\0"))).toMatchObject({ status: expect.any(Number) });
    expect(await refusal(webhooks.update(newId(), { secret: "x".repeat(1_000_000) }))).toMatchObject({
      status: expect.any(Number),
    });
  });

  test("have deliveries that are listed page by page, read, charted, replayed and followed", async () => {
    const { webhooks } = clientOf();
    const { url, received } = await startReceiver();
    const id = await webhookTo({ url, ownerId: ada.id });
    const controller = new AbortController();
    const told: DeliveryJson[] = [];
    const following = (async () => {
      for await (const one of webhooks.live(id, { signal: controller.signal }))
        if (one.kind === "delivery") told.push(one.delivery);
    })();
    const queued = await queueDeliveries(id, { count: 5 });
    await startEngine();
    await vi.waitFor(async () => expect(await all(webhooks.deliveries(id, { state: "delivered" }))).toHaveLength(5), {
      timeout: 15_000,
    });
    const pages = await all(webhooks.deliveries(id, { limit: 2 }).pages());
    expect(pages.map((page) => page.length)).toEqual([2, 2, 1]);
    expect(
      pages
        .flat()
        .map((one) => one.id)
        .sort(),
    ).toEqual(queued.toSorted());
    await pool().query("select pg_notify($1, $2)", [ACTIVITY_CHANNEL, id]);
    await vi.waitFor(() => expect(told.filter(({ state }) => state === "delivered").length).toBeGreaterThan(0), {
      timeout: 15_000,
    });
    controller.abort(new Error("enough"));
    await expect(following).rejects.toThrow("enough");

    const [first = ""] = queued;
    expect(await webhooks.delivery(id, first)).toMatchObject({ id: first, attemptLog: [{ status: 200 }], canReplay: true });
    expect(await webhooks.chart(id, "7d")).toMatchObject({ range: "7d", delivered: 5 });
    expect(await webhooks.deliveryPage(id, { limit: 1 })).toMatchObject({ deliveries: [{}], older: expect.any(String) });
    expect(await webhooks.replay(id, first)).toMatchObject({ status: 200, delivery: first });
    expect(received.at(-1)).toMatchObject({ "webhook-id": first });
    expect(await webhooks.sendTest(id, "discussion.create")).toMatchObject({ outcome: "delivered" });
    expect(received.at(-1)).toMatchObject({ "x-webhook-test": "true" });
    const replay = await webhooks.startReplay(id, { deliveries: queued });
    expect(await webhooks.readReplay(id, replay.id)).toMatchObject({ id: replay.id, total: 5 });
    expect(await webhooks.cancelReplay(id, replay.id)).toMatchObject({ state: "cancelled" });
    expect((await webhooks.listReplays(id)).map((one) => one.id)).toEqual([replay.id]);
  });

  test("have failed deliveries that are replayed, with progress", async () => {
    const { webhooks } = clientOf();
    const { url } = await startReceiver();
    const id = await webhookTo({ url, ownerId: ada.id });
    const failed = await queueDeliveries(id, { count: 2, dueIn: 3_600 });
    await pool().query("DELETE FROM delivery_queue WHERE id = ANY($1)", [failed]);
    await db().delivery.updateMany({ where: { webhookId: id }, data: { state: "failed", finishedAt: new Date() } });
    await startEngine();
    const since = new Date(Date.now() - 3_600_000);
    expect(await refusal(all(webhooks.replayFailed(id, { since: new Date() })))).toMatchObject({ code: "conflict" });
    let last: { total: number; delivered: number } | undefined;
    for await (const now of webhooks.replayFailed(id, { since, everyMs: 20 })) {
      last = now;
      if (now.state === "running") await webhooks.cancelReplay(id, now.id);
    }
    expect(last).toMatchObject({ total: 2, state: "cancelled" });
  });
});

describe("jobs", () => {
  test("are run, listed, read, labeled and cancelled, for a user and for an organization", async () => {
    const { jobs } = clientOf();
    expect((await jobs.hardware())[0]).toMatchObject({ name: "cpu-basic" });
    const organization = (await organizationOf(ada)).name;
    for (const whose of [{}, { organization }]) {
      const job = {
        dockerImage: "alpine",
        command: ["true"],
        flavor: "cpu-basic",
        secrets: { KEY: "value" },
        labels: { for: "kite" },
      };
      const made = await jobs.run(job, whose);
      expect(made).toMatchObject({
        status: { stage: "SCHEDULING" },
        secrets: ["KEY"],
        owner: { name: organization && whose.organization ? organization : ada.username },
      });
      expect((await jobs.get(made.id, whose)).id).toBe(made.id);
      const again = await jobs.duplicate(made.id, whose);
      expect(again.initiator.type).toBe("duplicated-job");
      const pages = await all(jobs.list({ labels: { for: "kite" }, stage: "SCHEDULING", limit: 1 }, whose).pages());
      expect(pages.map((page) => page.map(({ id }) => id))).toEqual([[again.id], [made.id]]);
      expect((await jobs.updateLabels(made.id, { other: "1" }, whose)).labels).toEqual({ other: "1" });
      expect((await jobs.cancel(made.id, whose)).status.stage).toBe("CANCELED");
      expect(await all(jobs.logs(made.id, whose))).toEqual([]);
    }
    expect(await refusal(jobs.run({ dockerImage: "alpine", flavor: "cpu-basic", ssh: true }))).toMatchObject({
      field: "ssh",
      status: 400,
    });
  });

  test("have logs that are followed line by line", async () => {
    const { jobs } = clientOf();
    const { id } = await jobs.run({ dockerImage: "alpine", command: ["true"], flavor: "cpu-basic" });
    await pool().query(
      `INSERT INTO job_log (run_id, seq, at, stream, text) SELECT $1, n, now(), 'stdout', 'line ' || n || E'\\n' FROM generate_series(1, 3) n`,
      [id],
    );
    await jobs.cancel(id);
    expect((await all(jobs.logs(id))).map(({ data }) => data)).toEqual(["line 1", "line 2", "line 3"]);
    expect((await all(jobs.logs(id, { tail: 1 }))).map(({ data }) => data)).toEqual(["line 3"]);
  });

  test("are put on a schedule", async () => {
    const { schedules } = clientOf().jobs;
    const jobSpec = { dockerImage: "alpine", command: ["true"], flavor: "cpu-basic" };
    const made = await schedules.create({ jobSpec, schedule: "@daily", timezone: "Europe/Vienna" });
    expect((await all(schedules.list())).map(({ id }) => id)).toEqual([made.id]);
    expect(await schedules.suspend(made.id)).toMatchObject({ suspend: true });
    expect(await schedules.resume(made.id)).toMatchObject({ suspend: false });
    expect(await schedules.update(made.id, { schedule: "0 6 * * *" })).toMatchObject({ schedule: "0 6 * * *" });
    expect((await schedules.run(made.id)).initiator.type).toBe("scheduled-job");
    expect(await schedules.get(made.id)).toMatchObject({ id: made.id });
    await schedules.delete(made.id);
    expect(await refusal(schedules.get(made.id))).toMatchObject({ status: 404 });
  });
});

describe("repositories", () => {
  test("are created, listed, read, changed, moved and deleted", async () => {
    const { repos, organizations } = clientOf();
    const name = `kite-${newId()}`;
    const made = await repos.create({ name, type: "dataset", private: true });
    expect(made.name).toBe(`${ada.username}/${name}`);
    expect(await refusal(repos.create({ name, type: "dataset" }))).toMatchObject({ status: 409, code: "conflict" });
    const ref = `datasets/${made.name}`;
    expect(await repos.get(ref)).toMatchObject({ id: made.name, private: true });
    expect(await repos.updateSettings(ref, { private: false, description: "of tides" })).toMatchObject({
      private: false,
      description: "of tides",
    });
    expect((await all(repos.list({ type: "dataset", author: ada.username, limit: 1 }))).map(({ id }) => id)).toContain(made.name);
    const moved = await repos.move(ref, `${ada.username}/${name}-2`);
    expect((await repos.get({ type: "dataset", name: moved.name }))._id).toBe(made.id);
    await repos.delete({ type: "dataset", name: moved.name });
    expect(await refusal(repos.get({ type: "dataset", name: moved.name }))).toMatchObject({ status: 404, code: "RepoNotFound" });
    const { name: organization } = await organizationOf(ada);
    expect(await organizations.get(organization)).toMatchObject({ name: organization, numModels: 0 });
    expect(await all(organizations.members(organization))).toMatchObject([{ user: ada.username, role: "admin" }]);
  });

  test("have discussions in which a bot can reply to an event", async () => {
    const { repos } = clientOf();
    const { name } = await repos.create({ name: `talk-${newId()}` });
    const repo = { type: "model" as const, name };
    const { num } = await repos.discussions.open(repo, { title: "Tides", description: "They rise." });
    const comment = await repos.discussions.comment(repo, num, "They fall as well.");
    expect(comment).toMatchObject({ author: { name: ada.username }, data: { latest: { raw: "They fall as well." } } });
    expect((await repos.discussions.editComment(repo, num, comment.id, "They fall.")).data.edited).toBe(true);
    await repos.discussions.setTitle(repo, num, "Of tides");
    await repos.discussions.setStatus(repo, num, "closed", { comment: "Done." });
    const detail = await repos.discussions.get(repo, num);
    expect(detail).toMatchObject({ title: "Of tides", status: "closed" });
    expect(detail.events.map(({ type }) => type)).toEqual(["comment", "comment", "title-change", "comment", "status-change"]);
    for (let more = 0; more < 2; more += 1) await repos.discussions.open(repo, { title: `More ${more}` });
    expect(await all(repos.discussions.list(repo))).toHaveLength(3);
    expect(await all(repos.discussions.list(repo, { status: "closed" }))).toMatchObject([{ num }]);
  });

  test("have branches", async () => {
    const { repos } = clientOf();
    const { name } = await repos.create({ name: `tree-${newId()}`, license: "mit" });
    const { commitOid } = await repos.branches.create(name, "wip/one");
    expect(await repos.branches.list(name)).toContainEqual(expect.objectContaining({ name: "wip/one", targetCommit: commitOid }));
    expect(await refusal(repos.branches.create(name, "wip/one"))).toMatchObject({ status: 409 });
    await repos.branches.delete(name, "wip/one");
    expect((await repos.branches.list(name)).map((one) => one.name)).toEqual(["main"]);
  });
});

test("the audit log is exported entry by entry, or as a file", async () => {
  const organization = await organizationOf(ada);
  await db().organization.update({ where: { id: organization.id }, data: { plan: "enterprise" } });
  const { auditLog, webhooks } = clientOf();
  const watched = [{ type: "org" as const, name: organization.name }];
  await webhooks.create({ url: "https://example.com/hook", watched }, { organization: organization.name });
  const entries = await all(auditLog.entries(organization.name, { q: "type:webhook.create" }));
  expect(entries).toMatchObject([{ type: "webhook.create", author: { user: ada.username } }]);
  const decoder = new TextDecoder();
  const csv = (await all(auditLog.export(organization.name, { format: "csv" }))).map((piece) => decoder.decode(piece)).join("");
  expect(csv).toMatch(/^id,created_at,type/);
  expect(csv).toContain("webhook.create");
  expect(await refusal(all(clientOf(await someCaller()).auditLog.entries(organization.name)))).toMatchObject({
    status: expect.any(Number),
  });
});
