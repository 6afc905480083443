import {
  jobSpecSchema,
  WATCHED_MAX_PER_WEBHOOK,
  type WatchedItemInput,
  type WatchType,
  WEBHOOKS_MAX_PER_OWNER,
} from "@keyhook/sdk";
import { beforeAll, describe, expect, it } from "vitest";
import { anonymous, operatorCommand, type TokenHolder } from "../../access/actor.ts";
import { changeRole, removeMember } from "../../accounts/organizations/members.ts";
import {
  freshName,
  from,
  organizationOf,
  outcomes,
  signedInPerson,
  staleActor,
  type TestPerson,
} from "../../accounts/testing/people.ts";
import { ownToken } from "../../accounts/testing/tokens.ts";
import { disableUser } from "../../accounts/users/disable-user.ts";
import { unseal } from "../../crypto/seal.ts";
import { db, pool } from "../../db.ts";
import { deleteAccount, deleteOrganization } from "../../hub/owners/delete-owner.ts";
import { deleteRepo } from "../../hub/repos/change-repo.ts";
import { createRepo } from "../../hub/repos/create-repo.ts";
import { moveRepo } from "../../hub/repos/move-repo.ts";
import type { Repo } from "../../hub/repos/repo.ts";
import { updateRepoSettings } from "../../hub/repos/update-repo-settings.ts";
import { someRepo } from "../../hub/testing/repos.ts";
import { newId } from "../../ids.ts";
import { createRun } from "../../jobs/runs/request-run.ts";
import { deadlock } from "../../testing/as-owner.ts";
import { countStatements } from "../../testing/count-statements.ts";
import { DELIVERY_CHANNEL } from "../vocabulary.ts";
import { CREATED_MAX_IN_ALL, CREATED_MAX_PER_USER, createWebhook } from "./create-webhook.ts";
import { deleteWebhook } from "./delete-webhook.ts";
import { disableWebhook, enableWebhook, releaseForgotten } from "./enable-webhook.ts";
import { findWebhook, listWebhooks } from "./find-webhook.ts";
import { updateWebhook } from "./update-webhook.ts";
import type { Webhook, WebhookOwner } from "./webhook.ts";
import type { TargetInput } from "./webhook-target.ts";

const url = "https://hooks.example.com/";
const own = ({ id }: { id: string }): WebhookOwner => ({ kind: "user", id });
const item = (type: WatchType, name: string): WatchedItemInput => ({ type, name });
const watching = (repo: Repo) => item(repo.type, repo.fullName);
const namesOf = ({ watched }: Webhook) => watched.map(({ name }) => name);

async function webhookOf(person: TestPerson, watched: WatchedItemInput[], owner: WebhookOwner = own(person)): Promise<Webhook> {
  return (await createWebhook(person.actor, owner, { url, watched }, from)).webhook;
}

const repoOf = (person: TestPerson, owner: string, isPrivate = false) =>
  createRepo(person.actor, { type: "model", owner, name: freshName("tide"), isPrivate }, from);

async function queued(webhookId: string, dueAt: "now" | "infinity"): Promise<string> {
  const id = newId();
  await pool().query(
    `insert into delivery_queue (id, webhook_id, owner_id, event_id, host, kind, lane, due_at)
     values ($1, $2, 'x', 'x', 'hooks.example.com', 'first', 1, $3::timestamptz)`,
    [id, webhookId, dueAt],
  );
  return id;
}

const queueOf = async (webhookId: string) =>
  (
    await pool().query<{ id: string; isDue: boolean; host: string }>(
      `select id, due_at <= now() as "isDue", host from delivery_queue where webhook_id = $1 order by id`,
      [webhookId],
    )
  ).rows;

let ada: TestPerson;
let grace: TestPerson;
beforeAll(async () => {
  [ada, grace] = await Promise.all([signedInPerson("ada"), signedInPerson("grace")]);
});

describe("watched items", () => {
  it("are stored by ID, so that moved items have their new name and deleted items are marked", async () => {
    const organization = await organizationOf(ada);
    const repo = await someRepo(ada);
    const webhook = await webhookOf(ada, [
      watching(repo),
      item("user", ada.username.toUpperCase()),
      item("org", organization.name),
    ]);
    expect(namesOf(webhook)).toEqual([organization.name, ada.username, repo.fullName]);

    const moved = await moveRepo(
      ada.actor,
      { type: "model", owner: ada.username, name: repo.name },
      { owner: ada.username, name: `${repo.name}-b` },
      from,
    );
    expect(namesOf(await findWebhook(ada.actor, webhook.id))).toEqual([organization.name, ada.username, moved.fullName]);
    const twice = [watching(repo), watching(moved), item("model", moved.fullName.toUpperCase())];
    const updated = await updateWebhook(ada.actor, webhook.id, { watched: twice }, from);
    expect(updated.watched).toEqual([{ type: "model", id: repo.id, name: moved.fullName }]);

    await deleteRepo(ada.actor, { type: "model", owner: ada.username, name: moved.name }, from);
    const gone = await findWebhook(ada.actor, webhook.id);
    expect(gone.watched).toEqual([{ type: "model", id: repo.id, name: null }]);
    await createRepo(ada.actor, { type: "model", owner: ada.username, name: moved.name }, from);
    expect((await findWebhook(ada.actor, webhook.id)).watched).toEqual(gone.watched);
    const kept = await updateWebhook(
      ada.actor,
      webhook.id,
      { watched: [item("model", repo.id), item("user", ada.username)] },
      from,
    );
    expect(kept.watched.map(({ id }) => id)).toEqual([ada.id, repo.id]);
    for (const id of [moved.id, newId()]) {
      const other = updateWebhook(
        ada.actor,
        (await webhookOf(ada, [item("user", ada.username)])).id,
        { watched: [item("model", id)] },
        from,
      );
      await expect(other).rejects.toMatchObject({ code: "invalid_request", field: "watched" });
    }
  });

  it("S129 S136 have no name while the webhook's owner may not read them", async () => {
    const organization = await organizationOf(ada, [[grace, "read"]]);
    const [hidden, open] = await Promise.all([repoOf(ada, organization.name, true), repoOf(ada, organization.name)]);
    const webhook = await webhookOf(grace, [watching(hidden), watching(open)]);
    expect(namesOf(webhook).sort()).toEqual([hidden.fullName, open.fullName].sort());
    await removeMember(ada.actor, organization.id, grace.id, from);
    const shown = JSON.stringify(await listWebhooks(grace.actor, own(grace)));
    expect(shown).not.toContain(hidden.name);
    expect(shown).toContain(open.fullName);
    await updateRepoSettings(ada.actor, { type: "model", owner: organization.name, name: open.name }, { isPrivate: true }, from);
    expect(namesOf(await findWebhook(grace.actor, webhook.id))).toEqual([null, null]);
    await updateRepoSettings(
      ada.actor,
      { type: "model", owner: organization.name, name: hidden.name },
      { isPrivate: false },
      from,
    );
    expect(namesOf(await findWebhook(grace.actor, webhook.id))).toContain(hidden.fullName);
  });

  it("S136 hidden and missing repositories, and those of a disabled account, are refused in the same words", async () => {
    const closed = await signedInPerson();
    const repos = [await someRepo(ada, { isPrivate: true }), await someRepo(closed)];
    await disableUser(operatorCommand, closed.id, from);
    const sentences = await Promise.all(
      [...repos.map(({ fullName }) => fullName), `${ada.username}/nothing`].map((name) =>
        webhookOf(grace, [item("model", name)]).catch((error: Error) => error.message.replace(name, "X")),
      ),
    );
    expect(new Set(sentences)).toEqual(new Set(["There is no model X that you can see."]));
    await expect(webhookOf(grace, [item("user", closed.username)])).rejects.toThrow(`There is no user ${closed.username}.`);
    const { fullName } = await someRepo(ada);
    await expect(webhookOf(grace, [item("dataset", fullName)])).rejects.toThrow("There is no dataset");
    expect(namesOf(await webhookOf(grace, [item("model", fullName)]))).toEqual([fullName]);
  });

  it("must be readable with the token that creates the webhook and, for an organization's webhook, by the organization", async () => {
    const organization = await organizationOf(ada);
    const [mine, orgs] = await Promise.all([someRepo(ada, { isPrivate: true }), repoOf(ada, organization.name, true)]);
    const make = async (scopes: TokenHolder["scopes"], owner: WebhookOwner, repo: Repo) =>
      createWebhook(await ownToken(ada.id, scopes), owner, { url, watched: [watching(repo)] }, from);
    await expect(make(["webhooks"], own(ada), mine)).rejects.toMatchObject({ code: "invalid_request", field: "watched" });
    expect(namesOf((await make(["webhooks", "read-repos"], own(ada), mine)).webhook)).toEqual([mine.fullName]);
    const asOrganization: WebhookOwner = { kind: "organization", id: organization.id };
    await expect(make(["webhooks", "read-repos"], asOrganization, mine)).rejects.toThrow("this organization cannot read it");
    expect(namesOf((await make(["webhooks", "read-repos"], asOrganization, orgs)).webhook)).toEqual([orgs.fullName]);
    expect(namesOf((await make(["webhooks", "read-repos"], own(ada), orgs)).webhook)).toEqual([orgs.fullName]);
    await expect(make(["read-repos"], own(ada), mine)).rejects.toMatchObject({ code: "insufficient_scope", scope: "webhooks" });
  });

  it("are resolved in as many statements for eight items as for one", async () => {
    const person = await signedInPerson();
    const repos = await Promise.all(Array.from({ length: 8 }, (_, at) => someRepo(person, { isPrivate: at % 2 === 0 })));
    const making = (watched: WatchedItemInput[]) => countStatements(() => webhookOf(person, watched));
    const one = await making([watching(repos[0] as Repo)]);
    const many = await making(repos.map(watching));
    expect(many.statements).toBe(one.statements);
    for (let at = 0; at < 6; at++) await webhookOf(person, repos.map(watching));
    const listed = await countStatements(() => listWebhooks(person.actor, own(person)));
    expect(listed.result.map(({ watched }) => watched.length)).toEqual([1, 8, 8, 8, 8, 8, 8, 8]);
    const single = await countStatements(() => findWebhook(person.actor, one.result.id));
    expect(listed.statements).toBe(single.statements);
  });
});

describe("bounds", () => {
  it("S137 refuse a large job, whether it is sent or copied from a run", async () => {
    const person = await signedInPerson();
    const watched = [item("user", person.username)];
    const environment = { A: "x".repeat(32_000), B: "x".repeat(32_000), C: "x".repeat(2_000) };
    const job = { dockerImage: "debian", command: ["true"], environment };
    const runOf = (spec: typeof job) =>
      createRun(db(), {
        ...{ owner: own(person), delegationId: null, createdById: person.id, initiator: { type: "user", id: person.id } },
        ...{ secrets: {}, spec: jobSpecSchema.parse(spec) },
      });
    const input = { watched, domains: undefined };
    const refused = (field: string) => expect.objectContaining({ code: "invalid_request", field });
    const make = (target: TargetInput) => createWebhook(person.actor, own(person), { ...input, ...target }, from);
    await expect(make({ job })).rejects.toEqual(refused("job"));
    await expect(make({ jobSourceId: await runOf(job) })).rejects.toEqual(refused("jobSourceId"));
    await make({ jobSourceId: await runOf({ ...job, environment: { ...environment, B: "" } }) });
  });

  it("limit the webhooks of an owner, even for simultaneous requests, and the items of a webhook", async () => {
    const person = await signedInPerson();
    await db().webhook.createMany({
      data: Array.from({ length: WEBHOOKS_MAX_PER_OWNER - 2 }, () => ({
        id: newId(),
        ownerId: person.id,
        ownerKind: "user",
        url,
        domains: ["repo"],
      })),
    });
    const making = Array.from({ length: 5 }, () => webhookOf(person, [item("user", person.username)]));
    expect(await outcomes(making)).toEqual(["conflict", "conflict", "conflict", "ok", "ok"]);
    const left = await organizationOf(ada, [[person, "admin"]]);
    const others = Array.from({ length: CREATED_MAX_PER_USER - WEBHOOKS_MAX_PER_OWNER }, () => ({
      ...{ id: newId(), ownerId: left.id, ownerKind: "organization", url, domains: ["repo"], createdById: person.id },
    }));
    const { id: orgId } = await organizationOf(person, []);
    await db().webhook.createMany({ data: others });
    const inOrganization = () => webhookOf(person, [item("user", person.username)], { kind: "organization", id: orgId });
    await db().webhook.updateMany({ where: { ownerId: person.id }, data: { createdById: person.id } });
    await expect(inOrganization()).rejects.toMatchObject({ code: "conflict" });
    await db().webhook.delete({ where: { id: others[0]?.id ?? "" } });
    await inOrganization();
    await expect(inOrganization()).rejects.toMatchObject({ code: "conflict" });
    await changeRole(ada.actor, left.id, person.id, "write", from);
    await inOrganization();
    // Without this limit, two users could leave any number of webhooks behind by turns.
    for (let more = CREATED_MAX_PER_USER; more < CREATED_MAX_IN_ALL; more += others.length)
      await db().webhook.createMany({ data: others.map((one) => ({ ...one, id: newId() })) });
    await expect(inOrganization()).rejects.toMatchObject({ code: "conflict", message: expect.stringContaining("2500") });
    const items = Array.from({ length: WATCHED_MAX_PER_WEBHOOK + 1 }, (_, at) => item("model", `${person.username}/r${at}`));
    await expect(webhookOf(ada, items)).rejects.toMatchObject({ field: "watched" });
  });
});

describe("S130 the secret of a webhook", () => {
  const job = { dockerImage: "debian", command: ["env"] };
  const kept = async (id: string) => {
    const { secret, previousSecret } = await db().webhook.findUniqueOrThrow({ where: { id } });
    return [secret, previousSecret].map((sealed) => sealed && unseal("webhook secret", sealed));
  };
  const withSecret = async (target: TargetInput) => {
    const watched = [item("user", ada.username)];
    return (await createWebhook(ada.actor, own(ada), { ...target, watched, secret: "tell-nobody" }, from)).webhook.id;
  };

  it.each<[string, TargetInput, TargetInput]>([
    ["another host", { url }, { url: "https://collector.example.com/" }],
    ["another port", { url }, { url: "https://hooks.example.com:8443/" }],
    ["plain HTTP", { url: "https://hooks.example.com:8080/" }, { url: "http://hooks.example.com:8080/" }],
    ["a job, which has it in its environment", { url }, { job }],
    ["another command", { job }, { job: { ...job, command: ["sh", "-c", "env | base64"] } }],
    ["an address in place of a job", { job }, { url }],
  ])("is not sent to %s unless the secret is given again", async (_what, before, after) => {
    const id = await withSecret(before);
    const app: TokenHolder = {
      kind: "token",
      userId: ada.id,
      scopes: ["webhooks", "jobs"],
      orgIds: "all",
      clientId: null,
      tokenId: "a token",
    };
    for (const actor of [app, ada.actor])
      await expect(updateWebhook(actor, id, after, from)).rejects.toMatchObject({ code: "invalid_request", field: "secret" });
    expect(await findWebhook(ada.actor, id)).toMatchObject(before.url ? { url: before.url } : { url: null });
    await updateWebhook(ada.actor, id, { secret: "rotated" }, from);
    expect(await kept(id)).toEqual(["rotated", "tell-nobody"]);
    await updateWebhook(ada.actor, id, { secret: "rotated" }, from);
    expect(await kept(id)).toEqual(["rotated", "tell-nobody"]);
    await updateWebhook(ada.actor, id, { ...after, secret: "fresh" }, from);
    expect(await kept(id)).toEqual(["fresh", null]);
    await updateWebhook(ada.actor, id, { ...before, secret: "" }, from);
    expect(await kept(id)).toEqual([null, null]);
    await updateWebhook(ada.actor, id, after, from);
  });

  it("S151 must be entered again if another Space has the name of the job's Space now", async () => {
    const { name, fullName } = await someRepo(ada, { type: "space", sdk: "node" });
    const space = { type: "space", owner: ada.username, name } as const;
    const job = { spaceId: fullName, command: ["env"] };
    const id = await withSecret({ job });
    await moveRepo(ada.actor, space, { owner: ada.username, name: `${name}-2` }, from);
    await updateWebhook(ada.actor, id, { job }, from);
    await createRepo(ada.actor, { ...space, sdk: "node" }, from);
    await expect(updateWebhook(ada.actor, id, { job }, from)).rejects.toMatchObject({ field: "secret" });
    expect(await kept(id)).toEqual(["tell-nobody", null]);
  });

  it("stays for another path of the same receiver, and for the same job", async () => {
    const id = await withSecret({ url });
    await updateWebhook(ada.actor, id, { url: "https://HOOKS.example.com:443/other?path=1" }, from);
    const jobId = await withSecret({ job });
    await updateWebhook(ada.actor, jobId, { job: { command: ["env"], dockerImage: "debian" } }, from);
    for (const one of [id, jobId]) expect(await kept(one)).toEqual(["tell-nobody", null]);
  });
});

describe("disabling, enabling and deleting", () => {
  it("hold, release and delete waiting deliveries (docs/specification/webhooks.md#states)", async () => {
    const webhook = await webhookOf(ada, [item("user", ada.username)]);
    await disableWebhook(ada.actor, webhook.id, from);
    await db().webhook.update({ where: { id: webhook.id }, data: { failingSince: new Date() } });
    const [held] = [await queued(webhook.id, "infinity"), await queued(webhook.id, "infinity")];
    const listener = await pool().connect();
    try {
      let notices = 0;
      listener.on("notification", ({ channel }) => (notices += channel === DELIVERY_CHANNEL ? 1 : 0));
      await listener.query(`listen ${DELIVERY_CHANNEL}`);
      const enabled = await enableWebhook(ada.actor, webhook.id, from);
      expect(enabled).toMatchObject({ disabledAt: null, disabledReason: null, failingSince: null });
      await expect.poll(() => notices).toBeGreaterThan(0);
    } finally {
      listener.removeAllListeners("notification");
      listener.release(true);
    }
    expect((await queueOf(webhook.id)).map(({ isDue }) => isDue)).toEqual([true, true]);
    expect((await queueOf(webhook.id)).map(({ id }) => id)).toContain(held);
    await updateWebhook(ada.actor, webhook.id, { url: "http://Other.example.com:8080/x" }, from);
    expect((await queueOf(webhook.id)).map(({ host }) => host)).toEqual(["other.example.com:8080", "other.example.com:8080"]);

    await db().webhookReplay.create({ data: { id: newId(), webhookId: webhook.id, ownerId: ada.id } });
    await deleteWebhook(ada.actor, webhook.id, from);
    expect(await queueOf(webhook.id)).toEqual([]);
    expect(await db().webhookReplay.count({ where: { webhookId: webhook.id } })).toBe(0);
    for (const operation of [enableWebhook, disableWebhook, deleteWebhook])
      await expect(operation(ada.actor, webhook.id, from)).rejects.toMatchObject({ code: "not_found" });
    await expect(findWebhook(anonymous, webhook.id)).rejects.toMatchObject({ code: "not_found" });
  });

  it("S122 a delivery that was put on hold while its webhook was enabled or deleted is found again", async () => {
    const [enabled, disabled] = [
      await webhookOf(ada, [item("user", ada.username)]),
      await webhookOf(ada, [item("user", ada.username)]),
    ];
    await disableWebhook(ada.actor, disabled.id, from);
    const deleted = newId();
    for (const id of [enabled.id, disabled.id, deleted]) await queued(id, "infinity");
    expect(await releaseForgotten()).toBeGreaterThanOrEqual(2);
    const isDue = async (id: string) => (await queueOf(id)).map((row) => row.isDue);
    expect([await isDue(enabled.id), await isDue(deleted), await isDue(disabled.id)]).toEqual([[true], [true], [false]]);
    expect(await releaseForgotten()).toBe(0);
  });

  it("leave a valid state even if they coincide with other changes", async () => {
    const webhook = await webhookOf(ada, [item("user", ada.username)]);
    const changes = Array.from({ length: 4 }, (_, at) => [
      enableWebhook(ada.actor, webhook.id, from),
      disableWebhook(ada.actor, webhook.id, from),
      updateWebhook(ada.actor, webhook.id, { url: `https://${at}.example.com/`, secret: `s${at}` }, from),
    ]).flat();
    expect(new Set(await outcomes(changes))).toEqual(new Set(["ok"]));
    const deleting = [deleteWebhook, deleteWebhook, enableWebhook].map((operation) => operation(ada.actor, webhook.id, from));
    const ended = await outcomes(deleting);
    expect(ended.filter((one) => one !== "ok" && one !== "not_found")).toEqual([]);
    expect(await db().webhook.count({ where: { id: webhook.id } })).toBe(0);
  });

  it("the webhooks of a deleted account or organization are deleted, with their waiting deliveries", async () => {
    const person = await signedInPerson();
    const organization = await organizationOf(person);
    const ofPerson = await webhookOf(person, [item("user", ada.username)]);
    const ofOrganization = await webhookOf(person, [item("org", organization.name)], {
      kind: "organization",
      id: organization.id,
    });
    const watchesBoth = await webhookOf(grace, [item("user", person.username), item("org", organization.name)]);
    for (const { id } of [ofPerson, ofOrganization]) await queued(id, "now");
    await deleteOrganization(person.actor, organization.id, from);
    expect([await queueOf(ofOrganization.id), (await queueOf(ofPerson.id)).length]).toEqual([[], 1]);
    await deleteAccount(operatorCommand, person.id, from);
    expect(await db().webhook.count({ where: { ownerId: { in: [person.id, organization.id] } } })).toBe(0);
    expect(await queueOf(ofPerson.id)).toEqual([]);
    expect(namesOf(await findWebhook(grace.actor, watchesBoth.id))).toEqual([null, null]);
  });

  it("change nothing if the state is already reached, and the audit log has each change", async () => {
    const watched = [item("user", ada.username)];
    const secretly = "https://hooks.example.com/path?key=in-the-query";
    const { webhook } = await createWebhook(ada.actor, own(ada), { url: secretly, watched }, from);
    await enableWebhook(ada.actor, webhook.id, from);
    const disabled = await disableWebhook(ada.actor, webhook.id, from);
    expect(await disableWebhook(ada.actor, webhook.id, from)).toEqual(disabled);
    // The reason is kept until the webhook delivers again (S126).
    await db().webhook.update({ where: { id: webhook.id }, data: { disabledReason: "failing" } });
    expect((await disableWebhook(ada.actor, webhook.id, from)).disabledReason).toBe("failing");
    await enableWebhook(ada.actor, webhook.id, from);
    const { disabledAt, disabledReason } = await db().webhook.findUniqueOrThrow({ where: { id: webhook.id } });
    expect({ disabledAt, disabledReason }).toEqual({ disabledAt: null, disabledReason: "failing" });
    await deleteWebhook(ada.actor, webhook.id, from);
    const entries = await db().auditEvent.findMany({
      where: { data: { path: ["webhookId"], equals: webhook.id } },
      orderBy: { id: "asc" },
    });
    expect(entries.map(({ type }) => type)).toEqual(["create", "disable", "enable", "delete"].map((done) => `webhook.${done}`));
    const target = "https://hooks.example.com/path";
    for (const { actorId, data } of entries) expect({ actorId, data }).toMatchObject({ actorId: ada.id, data: { target } });
    expect(JSON.stringify(entries)).not.toContain("in-the-query");
  });

  it("S136 find only a webhook of the owner in the URL", async () => {
    const { id } = await webhookOf(ada, [item("user", ada.username)]);
    expect((await findWebhook(ada.actor, id, { of: ada.id })).id).toBe(id);
    await expect(findWebhook(ada.actor, id, { of: grace.id })).rejects.toMatchObject({ code: "not_found" });
    for (const operation of [enableWebhook, disableWebhook, deleteWebhook])
      await expect(operation(ada.actor, id, from, grace.id)).rejects.toMatchObject({ code: "not_found" });
    const unscoped: TokenHolder = {
      kind: "token",
      userId: grace.id,
      scopes: ["openid"],
      orgIds: "all",
      clientId: null,
      tokenId: newId(),
    };
    for (const any of [id, newId(), "\0"]) {
      await expect(findWebhook(unscoped, any)).rejects.toMatchObject({ code: "insufficient_scope", scope: "webhooks" });
      await expect(findWebhook(grace.actor, any)).rejects.toMatchObject({ code: "not_found" });
    }
  });

  it("need no recent authentication, because programs do the same with tokens", async () => {
    const webhook = await webhookOf(ada, [item("user", ada.username)]);
    expect((await disableWebhook(staleActor(ada.actor), webhook.id, from)).disabledReason).toBe("owner");
  });
});

it("S122 a change that deadlocks with the recording of a delivery is repeated without an error", async () => {
  const ada = await signedInPerson("ada");
  const { id } = await webhookOf(ada, [watching(await repoOf(ada, ada.username))]);
  for (const [act, isLeft] of [
    [() => updateWebhook(ada.actor, id, { url: "https://elsewhere.example.com/" }, from), true],
    [() => deleteWebhook(ada.actor, id, from), false],
  ] as const) {
    const deliveryId = newId();
    await pool().query(
      "insert into delivery_queue (id, webhook_id, owner_id, event_id, host, kind, lane) values ($1, $2, $3, $4, '', 'first', 1)",
      [deliveryId, id, ada.id, newId()],
    );
    // Recording a delivery locks its row of the queue, and then the webhook.
    await deadlock(
      `select from delivery_queue where id = '${deliveryId}' for update`,
      act,
      `update webhook set failing_since = now() where id = '${id}'`,
    );
    expect(await db().webhook.count({ where: { id } })).toBe(isLeft ? 1 : 0);
  }
});
