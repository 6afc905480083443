import type { Scope } from "@keyhook/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { auditTrail, organizationOf, signedInPerson } from "#core/accounts/testing/people.ts";
import { seal, unseal } from "#core/crypto/seal.ts";
import { db, pool } from "#core/db.ts";
import { provideSettings } from "#core/env.ts";
import { someRepo } from "#core/hub/testing/repos.ts";
import { newId, newOrderedId } from "#core/ids.ts";
import { type Caller, sendAs, someCaller } from "./testing/hub-caller.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

let world: Awaited<ReturnType<typeof startApiWorld>>;
beforeAll(async () => {
  provideSettings({ TOKEN_PREFIX: "hf_" });
  world = await startApiWorld();
});
afterAll(async () => {
  await world.stop();
  provideSettings({ TOKEN_PREFIX: "kh_" });
});

const OWN = "/api/settings/webhooks";

const send = (caller: Caller | undefined, method: string, path: string, body?: unknown) =>
  sendAs(caller, method, world.origin + path, body);

const someone = (...scopes: Scope[]) => someCaller("webhooks", ...scopes);
const URL_OF_HOOK = "https://hooks.example.com/events?key=k";

async function someWebhook(caller: Caller, changes: Record<string, unknown> = {}) {
  const watched = [{ type: "user", name: caller.username }];
  const { status, body } = await send(caller, "POST", OWN, { url: URL_OF_HOOK, watched, ...changes });
  expect(status, JSON.stringify(body)).toBe(200);
  return body.webhook;
}

async function someRun(ownerId: string, { secrets }: { secrets?: Record<string, string> } = {}): Promise<string> {
  const id = newId();
  const spec = { dockerImage: "python:3.12", command: ["python", "-c", "print(1)"], arguments: ["-q"], environment: { A: "b" } };
  await db().jobRun.create({
    data: {
      id,
      ownerId,
      ownerKind: "user",
      initiator: { type: "user" },
      spec: { ...spec, flavor: "cpu-basic", labels: { team: "tides" } },
      secrets: secrets ? seal("job secrets", JSON.stringify(secrets)) : null,
      stage: "COMPLETED",
    },
  });
  return id;
}

test("the requests of the Python client and the command-line tool create, change, disable, enable and delete a webhook", async () => {
  const ada = await someone();
  const repo = await someRepo(ada, { type: "dataset" });
  const organization = await organizationOf(ada);
  const made = await send(ada, "POST", OWN, {
    watched: [
      { type: "user", name: ada.username },
      { type: "org", name: organization.name },
      { type: "dataset", name: repo.fullName },
    ],
    url: URL_OF_HOOK,
    secret: "tide table",
  });
  expect(made.status).toBe(200);
  const { id } = made.body.webhook;
  expect(made.body).toEqual({
    webhook: {
      id: expect.stringMatching(/^[0-9a-f]{24}$/),
      url: URL_OF_HOOK,
      disabled: false,
      status: "enabled",
      watched: [
        { type: "org", name: organization.name, avatarUrl: `${world.origin}/avatars/${organization.name}` },
        { type: "user", name: ada.username, avatarUrl: `${world.origin}/avatars/${ada.username}` },
        { type: "dataset", name: repo.fullName },
      ],
      domains: ["repo", "discussion"],
      hasSecret: true,
      owner: { id: ada.id, name: ada.username, type: "user" },
      createdBy: { type: "token", userId: ada.id, name: "laptop" },
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    },
  });
  const narrowed = await send(ada, "POST", `${OWN}/${id}`, { watched: [], domains: ["discussions"] });
  expect(narrowed.body.webhook).toMatchObject({ domains: ["discussion"], watched: made.body.webhook.watched });
  const named = await send(ada, "POST", `${OWN}/${id}`, {
    name: " Tide  gauge ",
    events: ["discussion.create", "discussion.delete"],
  });
  expect(named.body.webhook).toMatchObject({
    name: "Tide gauge",
    domains: ["discussion"],
    events: ["discussion.create", "discussion.delete"],
  });
  const wide = await send(ada, "POST", `${OWN}/${id}`, { name: "", domains: ["discussion"] });
  for (const field of ["name", "events"]) expect(wide.body.webhook).not.toHaveProperty(field);
  const sameHost = `${new URL(URL_OF_HOOK).origin}/another/path`;
  const moved = await send(ada, "POST", `${OWN}/${id}`, { watched: [], url: sameHost });
  expect(moved.body.webhook).toMatchObject({
    url: sameHost,
    domains: ["discussion"],
    watched: made.body.webhook.watched,
    hasSecret: true,
  });
  const elsewhere = { watched: [], url: "https://other.example.com/" };
  expect(await send(ada, "POST", `${OWN}/${id}`, elsewhere)).toMatchObject({ status: 400, body: { field: "secret" } });
  const known = await send(ada, "POST", `${OWN}/${id}`, { ...elsewhere, secret: "still-known" });
  expect(known.body.webhook).toMatchObject({ url: elsewhere.url, hasSecret: true });
  await send(ada, "POST", `${OWN}/${id}`, { url: sameHost, secret: "still-known" });
  const again = await send(ada, "POST", `${OWN}/${id}`, made.body.webhook);
  expect(again.body.webhook).toMatchObject({ ...made.body.webhook, updatedAt: expect.any(String) });
  expect((await send(ada, "POST", `${OWN}/${id}/disable`)).body.webhook).toMatchObject({ disabled: true, status: "disabled" });
  expect((await send(ada, "POST", `${OWN}/${id}/disable`)).status).toBe(200);
  expect((await send(ada, "GET", `${OWN}/${id}`)).body.webhook).toMatchObject({ id, disabled: true });
  expect((await send(ada, "POST", `${OWN}/${id}/enable`)).body.webhook).toMatchObject({ disabled: false, status: "enabled" });
  expect((await send(ada, "GET", OWN)).body).toEqual([(await send(ada, "GET", `${OWN}/${id}`)).body.webhook]);
  expect(await send(ada, "DELETE", `${OWN}/${id}`)).toMatchObject({ status: 200, body: {} });
  expect((await send(ada, "GET", `${OWN}/${id}`)).status).toBe(404);
  expect((await send(ada, "GET", OWN)).body).toEqual([]);
  for (const method of ["PUT", "PATCH"]) expect((await send(ada, method, `${OWN}/${id}`, {})).status).toBe(404);
});

test("a webhook runs the same job as an earlier run (jobSourceId or job_id), with its encrypted secrets", async () => {
  const ada = await someone("jobs");
  const run = await someRun(ada.id, { secrets: { KEY: "hush" } });
  const watched = [{ type: "user", name: ada.username }];
  for (const key of ["jobSourceId", "job_id"]) {
    const { status, body, text } = await send(ada, "POST", OWN, { watched, [key]: run });
    expect([key, status]).toEqual([key, 200]);
    expect(text).not.toContain("hush");
    expect(body.webhook).toMatchObject({ jobSourceId: run, hasSecret: false });
    expect(body.webhook.url).toBeUndefined();
    expect(body.webhook.job).toEqual({
      dockerImage: "python:3.12",
      command: ["python", "-c", "print(1)"],
      arguments: ["-q"],
      environment: { A: "b" },
      secrets: ["KEY"],
      flavor: "cpu-basic",
      timeoutSeconds: 1800,
      labels: { team: "tides" },
      network: false,
    });
    const { jobSecrets } = await db().webhook.findUniqueOrThrow({ where: { id: body.webhook.id } });
    expect(JSON.parse(unseal("job secrets", jobSecrets as Uint8Array))).toEqual({ KEY: "hush" });
  }
  await someRepo(ada, { type: "space", sdk: "node", name: "app" });
  const spec = { spaceId: `${ada.username}/app`, command: ["npm", "start"], secrets: { A: "1", B: "2" }, timeoutSeconds: 60 };
  const inline = await someWebhook(ada, { url: null, job: spec });
  expect(inline.job).toMatchObject({
    spaceId: `${ada.username}/app`,
    secrets: ["A", "B"],
    timeoutSeconds: 60,
    flavor: "cpu-basic",
  });
  const replaced = await send(ada, "POST", `${OWN}/${inline.id}`, { url: URL_OF_HOOK });
  expect(replaced.body.webhook).toMatchObject({ url: URL_OF_HOOK });
  expect(replaced.body.webhook.job).toBeUndefined();
  expect(await db().webhook.findUniqueOrThrow({ where: { id: inline.id } })).toMatchObject({ job: null, jobSecrets: null });

  const grace = await someone("jobs");
  const foreign = await send(ada, "POST", OWN, { watched, jobSourceId: await someRun(grace.id) });
  const absent = await send(ada, "POST", OWN, { watched, jobSourceId: newId() });
  expect([foreign.status, foreign.body]).toEqual([absent.status, absent.body]);
  expect(absent).toMatchObject({ status: 400, body: { error: "There is no job with this ID that you can see." } });
  const organization = await organizationOf(ada);
  const inOrganization = await send(ada, "POST", `/api/organizations/${organization.name}/settings/webhooks`, {
    watched,
    jobSourceId: run,
  });
  expect(inOrganization).toMatchObject({ status: 400, body: { error: expect.stringContaining("stay with its owner") } });
  const without = await someone();
  const refused = await send(without, "POST", OWN, { watched, job: { dockerImage: "busybox", command: ["true"] } });
  expect(refused).toMatchObject({ status: 403, body: { code: "insufficient_scope", scope: "jobs" } });
});

test("invalid input is refused with the error and the field", async () => {
  const ada = await someone("jobs");
  const watched = [{ type: "user", name: ada.username }];
  const hidden = await someRepo(await signedInPerson(), { isPrivate: true });
  const cases: [unknown, RegExp][] = [
    [{ watched }, /either a url or a job/],
    [{ watched, url: URL_OF_HOOK, jobSourceId: newId() }, /not both/],
    [{ url: URL_OF_HOOK }, /^watched/],
    [{ url: URL_OF_HOOK, watched: [] }, /^watched: watch at least one/],
    [{ url: URL_OF_HOOK, watched: [{ type: "bucket", name: "a/b" }] }, /can be watched/],
    [{ url: URL_OF_HOOK, watched: [{ type: "model", name: "tides" }] }, /as owner\/name/],
    [{ url: URL_OF_HOOK, watched: [{ type: "model", name: "nobody-at-all/tides" }] }, /There is no model nobody-at-all\/tides/],
    [{ url: URL_OF_HOOK, watched: [{ type: "model", name: hidden.fullName }] }, /There is no model .* that you can see/],
    [{ url: URL_OF_HOOK, watched: [{ type: "org", name: ada.username }] }, /is a user: watch them as user/],
    [{ url: URL_OF_HOOK, watched: [{ type: "user", name: "\0" }] }, /not valid text|characters/],
    [{ url: URL_OF_HOOK, watched, domains: ["repos"] }, /one of repo, discussion/],
    [{ url: URL_OF_HOOK, watched, secret: "ü" }, /ASCII/],
    [{ url: URL_OF_HOOK, watched, secret: "a\nb" }, /ASCII/],
    [{ url: URL_OF_HOOK, watched, secret: " a" }, /begin or end with a space/],
    [{ url: URL_OF_HOOK, watched, secret: "whsec_not base64" }, /base64/],
    [{ url: URL_OF_HOOK, watched, secret: "x".repeat(501) }, /secret/],
    [{ url: "ftp://example.com/", watched }, /begins with https/],
    [{ url: "https:example.com", watched }, /begins with https/],
    [{ url: "example.com/hook", watched }, /full URL/],
    [{ url: "https://", watched }, /full URL/],
    [{ url: "https://ada:key@example.com/", watched }, /username and password/],
    [{ url: "https://exa\nmple.com/", watched }, /spaces or line breaks/],
    [{ url: `https://example.com/${"x".repeat(2000)}`, watched }, /at most 2,000/],
    [{ job: { command: ["true"] }, watched }, /dockerImage or spaceId/],
    [{ job: { dockerImage: "busybox" }, watched }, /the command to run/],
    [{ job: { dockerImage: "busybox", command: ["true"], environment: { "1A": "" } }, watched }, /job/],
    ["{", /./],
    ["[]", /./],
  ];
  for (const [body, sentence] of cases) {
    const answer = await send(ada, "POST", OWN, body);
    expect([body, answer.status]).toEqual([body, 400]);
    expect(answer.body.error).toMatch(sentence);
  }
  // S117: an address to which no request may be sent is refused at once.
  for (const host of [
    "127.0.0.1",
    "localhost",
    "a.localhost.",
    "10.1.2.3",
    "0x7f.1",
    "[::1]",
    "[::ffff:10.0.0.1]",
    "169.254.169.254",
  ]) {
    provideSettings({ OUTBOUND_ALLOW_CIDRS: "" });
    const answer = await send(ada, "POST", OWN, { url: `http://${host}:8080/`, watched });
    expect([host, answer.status, answer.body.error]).toEqual([host, 400, expect.stringContaining("not on the public internet")]);
  }
  provideSettings({ OUTBOUND_ALLOW_CIDRS: "127.0.0.0/8" });
  for (const host of ["127.0.0.1", "localhost"]) await someWebhook(ada, { url: `http://${host}:8080/` });
  provideSettings({ OUTBOUND_ALLOW_CIDRS: "" });
  for (const id of ["x", "%00", "a".repeat(24), "A".repeat(24)])
    expect((await send(ada, "GET", `${OWN}/${id}`)).status).toBe(404);
});

describe("S130 the secret of a webhook", () => {
  test("is stored encrypted, and is only in the response that created it", async () => {
    const ada = await someone();
    const chosen = "a secret that nobody else has";
    const { id } = await someWebhook(ada, { secret: chosen });
    const row = () => db().webhook.findUniqueOrThrow({ where: { id } });
    const { rows } = await pool().query<{ all: string }>("select to_jsonb(w)::text as all from webhook w where id = $1", [id]);
    expect(rows[0]?.all).not.toContain(chosen);
    expect(rows[0]?.all).not.toContain(Buffer.from(chosen).toString("hex"));
    expect(unseal("webhook secret", (await row()).secret as Uint8Array)).toBe(chosen);

    const rotated = await send(ada, "POST", `${OWN}/${id}/rotate-secret`);
    const { secret, webhook } = rotated.body;
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(webhook).toMatchObject({ hasSecret: true });
    const after = await row();
    expect(unseal("webhook secret", after.secret as Uint8Array)).toBe(secret);
    // S123: the old secret signs for one more day.
    expect(unseal("webhook secret", after.previousSecret as Uint8Array)).toBe(chosen);
    const hours = ((after.previousSecretUntil as Date).getTime() - Date.now()) / 3_600_000;
    expect(hours > 23.9 && hours <= 24).toBe(true);

    await send(ada, "POST", `${OWN}/${id}`, { watched: [], secret: "the third" });
    expect(unseal("webhook secret", (await row()).previousSecret as Uint8Array)).toBe(secret);
    const answers = [
      await send(ada, "GET", OWN),
      await send(ada, "GET", `${OWN}/${id}`),
      await send(ada, "POST", `${OWN}/${id}/disable`),
      await send(ada, "POST", `${OWN}/${id}`, { watched: [], secret: "" }),
    ];
    for (const { text } of answers) for (const one of [chosen, secret, "the third"]) expect(text).not.toContain(one);
    expect(answers[3]?.body.webhook.hasSecret).toBe(false);
    expect(await row()).toMatchObject({ secret: null, previousSecret: null, previousSecretUntil: null });

    const audit = await db().auditEvent.findMany({ where: { actorId: ada.id } });
    expect(
      audit
        .map(({ type }) => type)
        .filter((type) => type.startsWith("webhook."))
        .sort(),
    ).toEqual(["webhook.create", "webhook.disable", "webhook.rotate_secret", "webhook.update", "webhook.update"].sort());
    for (const one of [chosen, secret, "the third", "key=k"]) expect(JSON.stringify(audit)).not.toContain(one);
  });

  test("can be generated in the form that libraries of Standard Webhooks accept", async () => {
    const ada = await someone();
    const { body } = await send(ada, "POST", OWN, {
      url: URL_OF_HOOK,
      watched: [{ type: "user", name: ada.username }],
      generateSecret: true,
    });
    const { Webhook } = await import("standardwebhooks");
    const library = new Webhook(body.secret);
    const [id, at] = ["msg", new Date()];
    const signature = library.sign(id, at, "{}");
    const headers = {
      "webhook-id": id,
      "webhook-timestamp": `${Math.floor(at.getTime() / 1000)}`,
      "webhook-signature": signature,
    };
    expect(library.verify("{}", headers)).toEqual({});
    expect((await send(ada, "GET", OWN)).text).not.toContain(body.secret);
  });
});

describe("permissions", () => {
  test("S136 another user's webhook looks nonexistent, and a token without the scope learns only the missing scope", async () => {
    const [ada, grace] = [await someone(), await someone()];
    const organization = await organizationOf(ada, [[grace, "write"]]);
    const ofOrganization = `/api/organizations/${organization.name}/settings/webhooks`;
    const made = await send(ada, "POST", ofOrganization, {
      url: URL_OF_HOOK,
      watched: [{ type: "org", name: organization.name }],
    });
    expect(made.body.webhook.owner).toEqual({ id: organization.id, name: organization.name, type: "org" });
    const [own, orgs] = [(await someWebhook(ada)).id as string, made.body.webhook.id as string];
    const requests = (base: string, id: string): [string, string, unknown?][] => [
      ["GET", `${base}/${id}`],
      ["POST", `${base}/${id}`, { url: "https://thief.example.com/" }],
      ["POST", `${base}/${id}/enable`],
      ["POST", `${base}/${id}/disable`],
      ["POST", `${base}/${id}/rotate-secret`],
      ["DELETE", `${base}/${id}`],
    ];
    const without = await someCaller("read-repos");
    for (const base of [OWN, ofOrganization]) {
      const absent = requests(base, newId());
      for (const [index, request] of [...requests(base, own), ...requests(base, orgs)].entries()) {
        const not = absent[index % absent.length] as [string, string, unknown?];
        for (const who of [grace, without, undefined]) {
          const [there, nothing] = [await send(who, ...request), await send(who, ...not)];
          expect([request, there.status, there.text]).toEqual([request, nothing.status, nothing.text]);
          expect([request, there.status]).toEqual([request, who === grace ? 404 : who ? 403 : 401]);
        }
      }
    }
    expect(await send(without, "GET", OWN)).toMatchObject({
      status: 403,
      body: { code: "insufficient_scope", scope: "webhooks", error: "The token lacks the scope webhooks." },
    });
    expect((await send(grace, "GET", ofOrganization)).status).toBe(404);
    expect((await send(grace, "POST", ofOrganization, { url: URL_OF_HOOK, watched: [] })).status).toBe(400);
    expect((await send(await someone(), "GET", ofOrganization)).status).toBe(404);
    expect((await send(ada, "GET", `${ofOrganization}/${own}`)).status).toBe(404);
    expect((await send(ada, "GET", `${OWN}/${orgs}`)).body.webhook.id).toBe(orgs);
    expect((await send(ada, "GET", OWN)).body.map(({ id }: { id: string }) => id)).toEqual([own]);
    expect((await send(ada, "GET", ofOrganization)).body.map(({ id }: { id: string }) => id)).toEqual([orgs]);
    await send(ada, "DELETE", `${ofOrganization}/${orgs}`);
    expect((await auditTrail({ orgId: organization.id })).filter((type) => type.startsWith("webhook."))).toEqual([
      "webhook.create",
      "webhook.delete",
    ]);
  });
});

test("a webhook's record has the time of the latest trigger, and a test does not count as a trigger", async () => {
  const ada = await someone();
  const { id } = await someWebhook(ada);
  const at = new Date();
  const delivery = (kind: string, when: number) => ({
    ...{ id: newOrderedId(when), webhookId: id, ownerId: ada.id, eventId: newId(), kind, scope: "repo", action: "update" },
    ...{ repoId: newId(), repoType: "model", repoName: "a/b", state: "delivered", createdAt: new Date(when) },
  });
  await db().webhookHour.create({
    data: { webhookId: id, hour: new Date(at.getTime() - (at.getTime() % 3_600_000)), triggered: 2 },
  });
  const latest = at.getTime();
  await db().delivery.createMany({
    data: [delivery("event", latest), delivery("event", at.getTime() - (at.getTime() % 3_600_000)), delivery("test", latest + 1)],
  });
  expect((await send(ada, "GET", OWN)).body[0].lastTriggerAt).toBe(new Date(latest).toISOString());
});
