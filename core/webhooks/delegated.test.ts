import type { Scope } from "@keyhook/sdk";
import { afterAll, expect, it } from "vitest";
import type { TokenHolder } from "../access/actor.ts";
import { createdByJson, findDelegate } from "../access/delegation.ts";
import { may } from "../access/may.ts";
import { readableOwners } from "../access/readable-owners.ts";
import { emailsTo, from, organizationOf, signedInPerson, type TestPerson } from "../accounts/testing/people.ts";
import { ownToken, appToken as tokenOfApp } from "../accounts/testing/tokens.ts";
import { db } from "../db.ts";
import { someRepo } from "../hub/testing/repos.ts";
import { newId } from "../ids.ts";
import { updateRunLabels } from "../jobs/runs/change-run.ts";
import { executeRun } from "../jobs/runs/execute-run.ts";
import { findRun } from "../jobs/runs/find-run.ts";
import type { ClaimedRun } from "../jobs/runs/job-table.ts";
import { duplicateRun, requestRun } from "../jobs/runs/request-run.ts";
import { createSchedule, resumeSchedule, updateSchedule } from "../jobs/schedules/change-schedule.ts";
import { findSchedule } from "../jobs/schedules/find-schedule.ts";
import { runScheduleNow } from "../jobs/schedules/start-due-run.ts";
import { stopListening } from "../notifications.ts";
import { openRelay } from "../relay/open-relay.ts";
import { listDeliveries } from "./activity/list-deliveries.ts";
import { readDelivery } from "./activity/read-delivery.ts";
import { listDelegated, STOPPED_AT_ONCE, settleEndedDelegations } from "./delegated.ts";
import { createWebhook } from "./manage/create-webhook.ts";
import { enableWebhook } from "./manage/enable-webhook.ts";
import { findWebhook } from "./manage/find-webhook.ts";
import { rotateWebhookSecret } from "./manage/rotate-webhook-secret.ts";
import { updateWebhook } from "./manage/update-webhook.ts";
import { startReplay } from "./replay/start-replay.ts";
import { fanOutAll, receiversOf, someEvent } from "./testing/fan-out.ts";

afterAll(stopListening);

const url = "https://collector.example.test/x";
const own = ({ id }: TestPerson) => ({ kind: "user" as const, id });

const appToken = (person: TestPerson, scopes: Scope[], orgIds: string[] = [], clientId?: string) =>
  tokenOfApp(person.id, { scopes, orgIds, ...(clientId && { clientId }) });

const revoke = ({ userId, clientId }: TokenHolder) =>
  db().oAuthConsent.updateMany({ where: { userId, clientId: clientId ?? "" }, data: { revokedAt: new Date() } });

const settle = async () => {
  while (await settleEndedDelegations());
};

it("S129 a webhook of an app with only `webhooks` never carries a private event", async () => {
  const [alice, oper] = [await signedInPerson("alice"), await signedInPerson("oper")];
  const org = await organizationOf(oper, [[alice, "read"]]);
  const secret = await someRepo(oper, { owner: org.name, isPrivate: true });
  const mine = await someRepo(alice, { isPrivate: true });
  const open = await someRepo(oper, { owner: org.name });
  const watched = [
    { type: "org" as const, name: org.name },
    { type: "user" as const, name: alice.username },
  ];
  const app = await appToken(alice, ["webhooks"]);
  const make = async (actor: TokenHolder | TestPerson["actor"]) =>
    (await createWebhook(actor, own(alice), { url, watched }, from)).webhook.id;
  const webhooks = {
    app: await make(app),
    reader: await make(await appToken(alice, ["webhooks", "read-repos"])),
    granted: await make(await appToken(alice, ["webhooks", "read-repos"], [org.id])),
    alices: await make(alice.actor),
  };
  const receivers = async (repo: { id: string; isPrivate: boolean }, ownerId: string) => {
    const event = await someEvent({ id: repo.id, ownerId, isPrivate: repo.isPrivate });
    await fanOutAll();
    const ids = await receiversOf(event);
    return Object.entries(webhooks).flatMap(([name, id]) => (ids.includes(id) ? [name] : []));
  };
  expect(await receivers(secret, org.id)).toEqual(["granted", "alices"]);
  expect(await receivers(mine, alice.id)).toEqual(["reader", "granted", "alices"]);
  expect(await receivers(open, org.id)).toEqual(["app", "reader", "granted", "alices"]);

  const deliveries = async (actor: TokenHolder | TestPerson["actor"]) =>
    (await listDeliveries(actor, webhooks.alices)).deliveries;
  const hidden = (await deliveries(alice.actor)).filter(({ repo }) => repo.id !== open.id);
  expect(new Set((await deliveries(app)).map(({ repo }) => repo.id))).toEqual(new Set([open.id]));
  expect(new Set(hidden.map(({ repo }) => repo.id))).toEqual(new Set([secret.id, mine.id]));
  for (const { id } of hidden) {
    await expect(readDelivery(app, webhooks.alices, id)).rejects.toMatchObject({ code: "not_found" });
    expect((await readDelivery(alice.actor, webhooks.alices, id)).body?.text).toContain('"private":true');
  }

  const { webhook: named } = await createWebhook(
    alice.actor,
    own(alice),
    { url, watched: [{ type: "model", name: mine.fullName }] },
    from,
  );
  const namesTo = async (actor: TokenHolder | TestPerson["actor"]) =>
    (await findWebhook(actor, named.id)).watched.map(({ name }) => name);
  expect([await namesTo(app), await namesTo(alice.actor)]).toEqual([[null], [mine.fullName]]);

  await revoke(app);
  expect(await receivers(open, org.id)).toEqual(["reader", "granted", "alices"]);
  await settle();
  expect(await findWebhook(alice.actor, webhooks.app)).toMatchObject({
    disabledReason: "grant_ended",
    madeWith: { kind: "app", name: "Night Ferry", isEnded: true },
  });
  for (const id of [webhooks.granted, webhooks.alices]) expect((await findWebhook(alice.actor, id)).disabledAt).toBeNull();
  await appToken(alice, ["webhooks", "read-repos"], [org.id], app.clientId ?? "");
  expect(await receivers(open, org.id)).toEqual(["reader", "granted", "alices"]);
  await enableWebhook(alice.actor, webhooks.app, from);
  expect((await findWebhook(alice.actor, webhooks.app)).madeWith).toBeNull();
  expect(await receivers(secret, org.id)).toEqual(["app", "granted", "alices"]);
});

it("the last user or app to change a webhook is responsible for the webhook", async () => {
  const alice = await signedInPerson("alice");
  const repo = await someRepo(alice, { isPrivate: true });
  const watched = [{ type: "user" as const, name: alice.username }];
  const [reader, plain] = [await appToken(alice, ["webhooks", "read-repos"]), await appToken(alice, ["webhooks"])];
  const { webhook } = await createWebhook(alice.actor, own(alice), { url, watched }, from);
  const mayReceive = async () => {
    const event = await someEvent({ id: repo.id, ownerId: alice.id, isPrivate: true });
    await fanOutAll();
    return (await receiversOf(event)).includes(webhook.id);
  };
  expect(await mayReceive()).toBe(true);
  await updateWebhook(plain, webhook.id, { url: "https://elsewhere.example.test/" }, from);
  expect(await mayReceive()).toBe(false);
  await expect(updateWebhook(reader, webhook.id, { domains: ["repo"] }, from)).rejects.toMatchObject({ code: "forbidden" });
  await expect(enableWebhook(reader, webhook.id, from)).rejects.toMatchObject({ code: "forbidden" });
  await updateWebhook(alice.actor, webhook.id, { url }, from);
  expect(await mayReceive()).toBe(true);
  await updateWebhook(reader, webhook.id, { watched }, from);
  expect(await mayReceive()).toBe(true);
});

const spec = (spaceId?: string) => ({
  ...(spaceId === undefined ? { dockerImage: "node" } : { spaceId }),
  ...{ command: ["cat", "README.md"], arguments: [], environment: {}, flavor: "cpu-basic", network: false, labels: {} },
});

it("only users and apps that may read a Space's files can name it in a run, a schedule or a webhook's job", async () => {
  const [alice, oper] = [await signedInPerson("alice"), await signedInPerson("oper")];
  const org = await organizationOf(oper, [[alice, "read"]]);
  const [mine, shared] = [
    await someRepo(alice, { type: "space", sdk: "node", isPrivate: true }),
    await someRepo(oper, { type: "space", sdk: "node", isPrivate: true, owner: org.name }),
  ];
  const scopes: Scope[] = ["jobs", "webhooks"];
  const holders = {
    alice: [alice.actor, [mine, shared]],
    jobs: [await appToken(alice, scopes), []],
    reads: [await appToken(alice, [...scopes, "read-repos"]), [mine]],
    granted: [await appToken(alice, [...scopes, "read-repos"], [org.id]), [mine, shared]],
  } as const;
  for (const [who, [actor, allowed]] of Object.entries(holders)) {
    for (const space of [mine, shared]) {
      const named = spec(space.fullName);
      const job = { ...named, dockerImage: undefined };
      const watched = [{ type: "user" as const, name: alice.username }];
      const asked = [
        () => requestRun(actor, alice.username, { spec: named, secrets: {} }, from),
        () => createSchedule(actor, alice.username, { spec: named, secrets: {}, schedule: "0 4 * * *" }, from),
        () => createWebhook(actor, own(alice), { job, watched }, from),
      ];
      for (const ask of asked) {
        const outcome = await ask().then(
          () => "allowed",
          (error: { code: string }) => error.code,
        );
        const expected = (allowed as readonly unknown[]).includes(space) ? "allowed" : "not_found";
        expect([who, space.fullName, outcome]).toEqual([who, space.fullName, expected]);
      }
    }
  }
});

it("S114 when a grant ends, its webhooks, schedules, runs, replays and relays end", async () => {
  const alice = await signedInPerson("alice");
  const token = await appToken(alice, ["webhooks", "jobs", "read-repos"]);
  const watched = [{ type: "user" as const, name: alice.username }];
  const { webhook } = await createWebhook(token, own(alice), { url, watched }, from);
  const { schedule } = await createSchedule(token, alice.username, { spec: spec(), secrets: {}, schedule: "0 4 * * *" }, from);
  const { runId } = await requestRun(token, alice.username, { spec: spec(), secrets: {} }, from);
  await openRelay(token, alice.id, "nightly", from);
  const event = await someEvent({ id: newId(), ownerId: alice.id });
  await fanOutAll();
  expect(await receiversOf(event)).toEqual([webhook.id]);
  await db().delivery.updateMany({ where: { webhookId: webhook.id }, data: { state: "failed" } });
  const [{ id: deliveryId } = { id: "" }] = (await listDeliveries(token, webhook.id)).deliveries;
  const replay = await startReplay(token, webhook.id, { deliveryIds: [deliveryId] }, from);
  const mine = await createSchedule(alice.actor, alice.username, { spec: spec(), secrets: {}, schedule: "0 4 * * *" }, from);
  const consent = await db().oAuthConsent.findFirstOrThrow({ where: { userId: alice.id } });

  expect((await listDelegated([consent.id, newId()])).get(consent.id)).toEqual({
    webhooks: [{ id: webhook.id, target: url, organization: null, isEnabled: true }],
    schedules: [{ id: schedule.id, command: "node", organization: null, isSuspended: false }],
    relays: ["nightly"],
    runs: 1,
    more: { webhooks: 0, schedules: 0 },
  });
  const namespace = alice.username;
  expect(await findRun(alice.actor, own(alice), runId)).toMatchObject({ madeWith: { name: "Night Ferry", isEnded: false } });

  await revoke(token);
  await settle();
  expect((await findWebhook(alice.actor, webhook.id)).disabledReason).toBe("grant_ended");
  const of = (scheduleId: string) => findSchedule(alice.actor, { namespace, scheduleId });
  expect((await of(schedule.id)).schedule).toMatchObject({ isSuspended: true, message: expect.stringContaining("Resume it") });
  expect((await of(mine.schedule.id)).schedule).toMatchObject({ isSuspended: false, madeWith: null });
  expect(await findRun(alice.actor, own(alice), runId)).toMatchObject({
    stage: "CANCELED",
    message: expect.stringContaining("access"),
  });
  expect(await db().webhookReplay.findUnique({ where: { id: replay.id } })).toMatchObject({ cancelledAt: expect.any(Date) });
  expect(await db().relay.findFirst({ where: { userId: alice.id } })).toMatchObject({ closedAt: expect.any(Date) });
  const kinds = (
    await db().auditEvent.findMany({
      where: { type: { in: ["webhook.suspend", "scheduled_job.suspend", "job.cancel", "relay.close"] } },
    })
  ).filter(
    ({ data, subjectId }) =>
      subjectId === alice.id || JSON.stringify(data).includes(runId) || JSON.stringify(data).includes(schedule.id),
  );
  expect(kinds.map(({ type }) => type).sort()).toEqual(["job.cancel", "relay.close", "scheduled_job.suspend", "webhook.suspend"]);
});

it("a run does not begin if its grant ends while the run is claimed", async () => {
  const alice = await signedInPerson("alice");
  const space = await someRepo(alice, { type: "space", sdk: "node", isPrivate: true });
  const token = await appToken(alice, ["jobs", "read-repos"]);
  const claim = async (id: string): Promise<ClaimedRun> => {
    const held = { claimId: "claim", claimedUntil: new Date(Date.now() + 20_000) };
    await db().jobRun.update({ where: { id }, data: held });
    const [row] = await db().$queryRaw<ClaimedRun[]>`SELECT * FROM job_run WHERE id = ${id}`;
    return row as ClaimedRun;
  };
  const execute = async (id: string) => {
    const delegates: unknown[] = [];
    await executeRun(await claim(id), "claim", {
      mayReceive: async () => true,
      stopping: new AbortController().signal,
      takeFiles: async (_space, { delegate }) => {
        delegates.push(delegate && (await readableOwners(delegate, "repo.read")).ownerIds);
        throw new Error("far enough");
      },
      runner: { name: "unsandboxed", start: () => Promise.reject(new Error("it must not start")) } as never,
    });
    return delegates;
  };
  const ask = async () => (await requestRun(token, alice.username, { spec: spec(space.fullName), secrets: {} }, from)).runId;
  expect(await execute(await ask())).toEqual([[alice.id]]);
  const narrowed = await ask();
  const consents = { where: { userId: alice.id } };
  await db().oAuthConsent.updateMany({ ...consents, data: { scopes: ["jobs"] } });
  expect(await execute(narrowed)).toEqual([[]]);
  await db().oAuthConsent.updateMany({ ...consents, data: { scopes: ["jobs", "read-repos"] } });
  const ended = await ask();
  await revoke(token);
  expect(await execute(ended)).toEqual([]);
  expect(await findRun(alice.actor, own(alice), ended)).toMatchObject({ stage: "CANCELED" });
});

it("an organization's webhook is disabled when the member whose token created the webhook loses the right", async () => {
  const [alice, oper] = [await signedInPerson("alice"), await signedInPerson("oper")];
  const org = await organizationOf(oper, [[alice, "admin"]]);
  const token = await ownToken(alice.id, ["webhooks", "read-repos"]);
  const watched = [{ type: "org" as const, name: org.name }];
  const { webhook } = await createWebhook(token, { kind: "organization", id: org.id }, { url, watched }, from);
  const event = async () => {
    const id = await someEvent({ id: newId(), ownerId: org.id });
    await fanOutAll();
    return receiversOf(id);
  };
  expect(await event()).toEqual([webhook.id]);
  await settle();
  expect((await findWebhook(oper.actor, webhook.id)).disabledAt).toBeNull();
  await db().membership.updateMany({ where: { orgId: org.id, userId: alice.id }, data: { role: "read" } });
  expect(await event()).toEqual([]);
  await db().user.update({ where: { id: oper.id }, data: { emailVerifiedAt: new Date() } });
  await settle();
  expect((await findWebhook(oper.actor, webhook.id)).disabledReason).toBe("grant_ended");
  expect((await emailsTo(oper.email))[0]?.text).toContain(
    "app or token that created or last changed the webhook no longer has access",
  );
});

it("an app cannot rotate another app's secret, run its schedule or job, or take over a relay of the user", async () => {
  const alice = await signedInPerson("alice");
  const scopes: Scope[] = ["webhooks", "jobs"];
  const [one, other] = [await appToken(alice, scopes), await appToken(alice, scopes)];
  const watched = [{ type: "user" as const, name: alice.username }];
  const { webhook } = await createWebhook(one, own(alice), { url, watched, secret: "hush" }, from);
  const { schedule } = await createSchedule(one, alice.username, { spec: spec(), secrets: {}, schedule: "@yearly" }, from);
  const { runId } = await requestRun(one, alice.username, { spec: spec(), secrets: {} }, from);
  const of = { namespace: alice.username, scheduleId: schedule.id };
  for (const attempt of [
    () => rotateWebhookSecret(other, webhook.id, from),
    () => runScheduleNow(other, of, from),
    () => resumeSchedule(other, of, from),
    () => duplicateRun(other, alice.username, runId, from),
    () => updateRunLabels(other, alice.username, runId, { by: "other" }, from),
    () => createWebhook(other, own(alice), { jobSourceId: runId, watched }, from),
  ]) {
    await expect(attempt()).rejects.toMatchObject({ code: "forbidden" });
  }
  await runScheduleNow(alice.actor, of, from);
  // The delivery is replayed instead, which checks access again (S129).
  await db().jobRun.update({ where: { id: runId }, data: { webhookId: webhook.id } });
  await expect(duplicateRun(alice.actor, alice.username, runId, from)).rejects.toMatchObject({ code: "conflict" });
  // An app needs the secret also for a new path, because many users may receive at one host.
  await expect(updateWebhook(one, webhook.id, { url: `${url}/y` }, from)).rejects.toMatchObject({ field: "secret" });
  await openRelay(alice.actor, alice.id, "mine", from);
  await expect(openRelay(one, alice.id, "mine", from)).rejects.toMatchObject({ code: "forbidden" });
  await revoke(one);
  await settle();
  expect(await db().relay.findFirst({ where: { userId: alice.id } })).toMatchObject({ closedAt: null });
});

it("S136 an app learns that another app created something, but not which app", async () => {
  const alice = await signedInPerson("alice");
  const [app, other] = [await appToken(alice, ["webhooks"]), await appToken(alice, ["webhooks"])];
  const laptop = await ownToken(alice.id, ["webhooks"]);
  const watched = [{ type: "user" as const, name: alice.username }];
  const made = async (by: TokenHolder | TestPerson["actor"]) =>
    (await createWebhook(by, own(alice), { url, watched }, from)).webhook;
  const ids = [await made(app), await made(other), await made(laptop), await made(alice.actor)].map(({ id }) => id);
  const toldTo = (actor: TokenHolder | TestPerson["actor"]) =>
    Promise.all(ids.map(async (id) => createdByJson(await findWebhook(actor, id), actor)));
  const userId = alice.id;
  const itself = { type: "app", userId, clientId: app.clientId, name: "Night Ferry" };
  expect(await toldTo(app)).toEqual([itself, { type: "app", userId }, { type: "user", userId }, { type: "user", userId }]);
  const named = { ...itself, clientId: other.clientId };
  expect(await toldTo(laptop)).toEqual([itself, named, { type: "token", userId, name: "laptop" }, { type: "user", userId }]);
  const refused = await updateWebhook(app, ids[1] ?? "", { url: `${url}/y` }, from).catch((error: Error) => error);
  expect(String(refused)).not.toContain("Night Ferry");
});

it("an app becomes responsible for a schedule that it changes and for a webhook whose secret it learns", async () => {
  const alice = await signedInPerson("alice");
  const app = await appToken(alice, ["webhooks", "jobs"]);
  const watched = [{ type: "user" as const, name: alice.username }];
  const made = async () => (await createWebhook(alice.actor, own(alice), { url, watched, secret: "hush" }, from)).webhook.id;
  const [rotated, replaced, kept] = [await made(), await made(), await made()];
  await rotateWebhookSecret(app, rotated, from);
  await updateWebhook(app, replaced, { secret: "known to the app" }, from);
  const input = { spec: spec(), secrets: {}, schedule: "@yearly" };
  const { schedule } = await createSchedule(alice.actor, alice.username, input, from);
  const of = { namespace: alice.username, scheduleId: schedule.id };
  await updateSchedule(app, of, { schedule: "@daily" }, from);
  await revoke(app);
  await settle();
  const reasonOf = async (id: string) => (await findWebhook(alice.actor, id)).disabledReason;
  expect([await reasonOf(rotated), await reasonOf(replaced), await reasonOf(kept)]).toEqual(["grant_ended", "grant_ended", null]);
  expect((await findSchedule(alice.actor, of)).schedule).toMatchObject({ isSuspended: true });
});

it("an organization's webhook continues while its creator does not meet the organization's requirements", async () => {
  const [alice, oper] = [await signedInPerson("alice"), await signedInPerson("oper")];
  const org = await organizationOf(oper, [[alice, "admin"]]);
  const token = await ownToken(alice.id, ["webhooks", "read-repos", "jobs"]);
  const watched = [{ type: "org" as const, name: org.name }];
  const { webhook } = await createWebhook(token, { kind: "organization", id: org.id }, { url, watched }, from);
  const mine = await createWebhook(token, own(alice), { url, watched }, from);
  const event = async () => {
    const id = await someEvent({ id: newId(), ownerId: org.id, isPrivate: true });
    await fanOutAll();
    return (await receiversOf(id)).sort();
  };
  expect(await event()).toEqual([webhook.id, mine.webhook.id].sort());
  await db().organization.update({ where: { id: org.id }, data: { requiresSecondStep: true } });
  await settle();
  expect(await event()).toEqual([webhook.id]);
  const { disabledAt, createdById, delegationId } = await db().webhook.findUniqueOrThrow({ where: { id: webhook.id } });
  expect(disabledAt).toBeNull();
  const acting = async (ownerKind: string, ownerId: string) => {
    const delegate = await findDelegate({ createdById, delegationId, ownerKind, ownerId });
    return delegate && may(delegate, "job.run", { ownerUserId: null, ownerOrgId: org.id });
  };
  expect([await acting("organization", org.id), await acting("user", alice.id)]).toEqual([true, false]);
});

it("a token replays the deliveries that it may see, by name and by time", async () => {
  const alice = await signedInPerson("alice");
  const [secret, open] = [await someRepo(alice, { isPrivate: true }), await someRepo(alice)];
  const watched = [{ type: "user" as const, name: alice.username }];
  await fanOutAll();
  const { webhook } = await createWebhook(alice.actor, own(alice), { url, watched }, from);
  for (const repo of [secret, open]) await someEvent({ id: repo.id, ownerId: alice.id, isPrivate: repo.isPrivate });
  await fanOutAll();
  await db().delivery.updateMany({ where: { webhookId: webhook.id }, data: { state: "failed" } });
  const all = (await listDeliveries(alice.actor, webhook.id)).deliveries;
  expect(all).toHaveLength(2);
  const app = await appToken(alice, ["webhooks"]);
  const hidden = all.find(({ repo }) => repo.id === secret.id)?.id ?? "";
  await expect(startReplay(app, webhook.id, { deliveryIds: [hidden] }, from)).rejects.toMatchObject({ code: "invalid_request" });
  const since = new Date(Date.now() - 60_000);
  expect((await startReplay(app, webhook.id, { since }, from)).total).toBe(1);
  expect((await startReplay(alice.actor, webhook.id, { since }, from)).total).toBe(2);
});

it("S137 the access of an app that created very much ends in parts", async () => {
  const alice = await signedInPerson("alice");
  const token = await appToken(alice, ["jobs", "read-repos"]);
  const { schedule } = await createSchedule(token, alice.username, { spec: spec(), secrets: {}, schedule: "0 4 * * *" }, from);
  const { spec: stored, ...row } = await db().scheduledJob.findUniqueOrThrow({
    where: { id: schedule.id },
    omit: { recordBytes: true },
  });
  const many = Array.from({ length: STOPPED_AT_ONCE + 20 }, () => ({
    ...row,
    secrets: null,
    spec: stored as object,
    id: newId(),
  }));
  await db().scheduledJob.createMany({ data: many });
  const consent = await db().oAuthConsent.findFirstOrThrow({ where: { userId: alice.id } });
  const listed = (await listDelegated([consent.id])).get(consent.id);
  expect(listed?.schedules).toHaveLength(10);
  expect(listed?.more).toEqual({ webhooks: 0, schedules: STOPPED_AT_ONCE + 11 });

  await settle();
  await revoke(token);
  const running = () => db().scheduledJob.count({ where: { delegationId: row.delegationId, isSuspended: false } });
  expect(await settleEndedDelegations()).toBe(true);
  expect(await running()).toBe(21);
  await settle();
  expect(await running()).toBe(0);
  expect(await db().delegation.findUnique({ where: { id: row.delegationId ?? "" } })).toMatchObject({
    settledAt: expect.any(Date),
  });
});
