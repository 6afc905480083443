import { afterAll, beforeAll, expect, test } from "vitest";
import { findSiteSession, type SiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { auditTrail, organizationOf, signedInPerson, staleActor } from "#core/accounts/testing/people.ts";
import { pool } from "#core/db.ts";
import { CLI_CLIENT_ID, OWNER_MAX_APPS } from "#core/oauth/apps/create-app.ts";
import { allowDevice } from "#core/oauth/testing/device.ts";
import { signIn } from "#core/oauth/testing/sign-in.ts";
import { signInByCli } from "./testing/cli-sign-in.ts";
import { someCaller } from "./testing/hub-caller.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

/** See S113 and decision 061. */
let world: Awaited<ReturnType<typeof startApiWorld>>;
beforeAll(async () => {
  world = await startApiWorld();
});
afterAll(() => world.stop());

const OWN = "/api/settings/apps";
const REDIRECT = "https://app.example.com/callback";

async function send(token: string | undefined, method: string, path: string, body?: unknown) {
  const response = await fetch(world.origin + path, {
    method,
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

test("the service's own command line creates, reads, changes and deletes an app, and rotates its secret", async () => {
  const ada = await signedInPerson();
  const { accessToken } = await signInByCli(world.origin, ada);
  const made = await send(accessToken, "POST", OWN, { name: "Night Ferry", redirectUris: [REDIRECT], isConfidential: true });
  expect(made.status, JSON.stringify(made.body)).toBe(200);
  expect(made.headers.get("cache-control")).toBe("no-store");
  const { app, secret } = made.body;
  expect(app).toMatchObject({
    name: "Night Ferry",
    scopes: ["openid", "profile"],
    redirectUris: [REDIRECT],
    isConfidential: true,
    owner: { name: ada.username, type: "user" },
    secrets: [{ last4: secret.slice(-4), expiresAt: null }],
  });

  const read = await send(accessToken, "GET", `${OWN}/${app.id}`);
  expect(read).toMatchObject({ status: 200, body: { app } });
  expect(JSON.stringify(read.body)).not.toContain(secret);
  expect((await send(accessToken, "GET", OWN)).body).toMatchObject([{ id: app.id, name: "Night Ferry", userCount: 0 }]);

  const moved = await send(accessToken, "POST", `${OWN}/${app.id}`, {
    description: "Books cabins",
    redirectUris: [REDIRECT, `${REDIRECT}/2`],
  });
  expect(moved.body.app).toMatchObject({
    name: "Night Ferry",
    description: "Books cabins",
    redirectUris: [REDIRECT, `${REDIRECT}/2`],
  });
  expect((await send(accessToken, "POST", `${OWN}/${app.id}`, { description: null })).body.app.description).toBeNull();

  const rotated = await send(accessToken, "POST", `${OWN}/${app.id}/rotate-secret`, { overlapSeconds: 3600 });
  expect(rotated.status).toBe(200);
  expect(rotated.body.secret).not.toBe(secret);
  expect(rotated.body.app.secrets.map(({ last4 }: { last4: string }) => last4)).toEqual([
    rotated.body.secret.slice(-4),
    secret.slice(-4),
  ]);

  expect(await send(accessToken, "DELETE", `${OWN}/${app.id}`)).toMatchObject({ status: 200, body: {} });
  expect((await send(accessToken, "GET", `${OWN}/${app.id}`)).status).toBe(404);
});

test("rotating gives a public app its first secret, and errors for invalid input say what to do", async () => {
  const { accessToken } = await signInByCli(world.origin, await signedInPerson());
  const { body } = await send(accessToken, "POST", OWN, { name: "Night Ferry", isDeviceFlowAllowed: true });
  expect(body.secret).toBeUndefined();
  const { body: given } = await send(accessToken, "POST", `${OWN}/${body.app.id}/rotate-secret`);
  expect(given).toMatchObject({ secret: expect.any(String), app: { isConfidential: true } });

  for (const [input, sentence] of [
    [{ name: "Night Ferry" }, "redirect URI"],
    [{ name: "", redirectUris: [REDIRECT] }, ""],
    [{ name: "x", redirectUris: ["http://app.example.com/"] }, "https"],
    [{ name: "x", redirectUris: [REDIRECT], scopes: ["root"] }, "scope root does not exist"],
    [{ name: "x\0y", redirectUris: [REDIRECT] }, ""],
    [{ name: "x", redirectUris: "y" }, "redirectUris"],
  ] as const) {
    const refused = await send(accessToken, "POST", OWN, input);
    expect([refused.status, refused.body.code]).toEqual([400, "invalid_request"]);
    expect(refused.body.error).toContain(sentence);
  }
  for (const id of ["x", "a".repeat(24), "%00"]) expect((await send(accessToken, "GET", `${OWN}/${id}`)).status).not.toBe(200);
});

test("S113 a personal access token creates and renames apps, but cannot take them over or delete them", async () => {
  const ada = await someCaller("manage-repos");
  const { body } = await send(ada.accessToken, "POST", OWN, { name: "Night Ferry", redirectUris: [REDIRECT] });
  const path = `${OWN}/${body.app.id}`;
  expect((await send(ada.accessToken, "POST", path, { name: "Day Ferry" })).body.app.name).toBe("Day Ferry");
  for (const [method, at, input] of [
    ["POST", path, { redirectUris: ["https://elsewhere.example.com/"] }],
    ["POST", path, { backchannelLogoutUri: "https://elsewhere.example.com/" }],
    ["POST", `${path}/rotate-secret`, {}],
    ["DELETE", path, undefined],
  ] as const) {
    const refused = await send(ada.accessToken, method, at, input);
    expect(refused).toMatchObject({ status: 403, body: { code: "reauthentication_required" } });
    expect(refused.body.error).toContain("within 15 minutes");
  }
});

test("S113 the command line's right to take apps over ends 15 minutes after its user authenticated", async () => {
  const ada = await signedInPerson();
  const { accessToken, refreshToken } = await signInByCli(world.origin, ada);
  const { body } = await send(accessToken, "POST", OWN, { name: "Night Ferry", redirectUris: [REDIRECT] });
  await pool().query(
    `UPDATE oauth_grant SET payload = jsonb_set(payload, '{authTime}', to_jsonb((payload ->> 'authTime')::int - 901))
     WHERE user_id = $1`,
    [ada.id],
  );
  const rotate = (token: string) => send(token, "POST", `${OWN}/${body.app.id}/rotate-secret`);
  expect(await rotate(accessToken)).toMatchObject({ status: 403, body: { code: "reauthentication_required" } });
  expect((await send(accessToken, "GET", OWN)).status).toBe(200);
  // A renewed token does not restore the right, because the user takes no part in the renewal.
  const renewed = await world.post("/oauth/token", {
    grant_type: "refresh_token",
    refresh_token: refreshToken,
    client_id: CLI_CLIENT_ID,
  });
  expect((await rotate((await renewed.json()).access_token)).status).toBe(403);
});

test("S113 a user can allow the command line's device request only after recent authentication", async () => {
  const ada = await signedInPerson();
  const started = await (await world.post("/oauth/device", { client_id: CLI_CLIENT_ID })).json();
  const session = (await findSiteSession(ada.token)) as SiteSession;
  const { authenticatedAt } = staleActor(ada.actor);
  await expect(allowDevice({ ...session, authenticatedAt }, started.user_code)).rejects.toMatchObject({
    code: "reauthentication_required",
  });
  await allowDevice(session, started.user_code);
});

test("tokens of apps, tokens without the scope and tokens of other users cannot manage apps", async () => {
  const { person, tokens } = await signIn(
    world,
    { scopes: ["openid", "manage-repos", "webhooks"] },
    { scope: "openid manage-repos" },
  );
  for (const [method, path] of [
    ["GET", OWN],
    ["POST", OWN],
  ] as const) {
    const refused = await send(
      tokens.access_token,
      method,
      path,
      method === "POST" ? { name: "x", redirectUris: [REDIRECT] } : undefined,
    );
    expect(refused).toMatchObject({ status: 403, body: { code: "forbidden" } });
    expect(refused.body.error).toContain("personal access token");
  }
  expect(person.id).toBeTruthy();
  const reader = await someCaller("read-repos", "webhooks");
  expect(await send(reader.accessToken, "GET", OWN)).toMatchObject({
    status: 403,
    body: { code: "insufficient_scope", scope: "manage-repos" },
  });
  const [ada, eve] = [await someCaller("manage-repos"), await someCaller("manage-repos")];
  const { body } = await send(ada.accessToken, "POST", OWN, { name: "Night Ferry", redirectUris: [REDIRECT] });
  const of = (token: string, id: string) => send(token, "GET", `${OWN}/${id}`);
  expect((await of(eve.accessToken, body.app.id)).body).toEqual((await of(eve.accessToken, "a".repeat(24))).body);
  expect((await send(undefined, "GET", OWN)).status).toBe(401);
});

test("only administrators manage an organization's apps, and the command line only if it was granted the organization", async () => {
  const [ada, bea] = [await signedInPerson(), await signedInPerson()];
  const organization = await organizationOf(ada, [[bea, "write"]]);
  const path = `/api/organizations/${organization.name}/settings/apps`;
  const inside = await signInByCli(world.origin, ada, { orgIds: [organization.id] });
  const made = await send(inside.accessToken, "POST", path, { name: "Harbour", isBound: true });
  expect(made.body.app).toMatchObject({ owner: { name: organization.name, type: "org" }, boundOrganization: organization.name });
  expect((await send(inside.accessToken, "GET", path)).body).toMatchObject([{ name: "Harbour" }]);
  expect((await send(inside.accessToken, "GET", OWN)).body).toEqual([]);
  const other = await organizationOf(ada);
  expect(
    (await send(inside.accessToken, "GET", `/api/organizations/${other.name}/settings/apps/${made.body.app.id}`)).status,
  ).toBe(404);
  expect(await auditTrail({ orgId: organization.id })).toContain("oauth_app.create");
  const outside = await signInByCli(world.origin, ada);
  expect((await send(outside.accessToken, "GET", path)).status).toBe(404);
  expect((await send(outside.accessToken, "POST", path, { name: "x", redirectUris: [REDIRECT] })).status).toBe(403);
  const writer = await signInByCli(world.origin, bea, { orgIds: [organization.id] });
  expect((await send(writer.accessToken, "GET", path)).status).toBe(404);
});

test("a list of apps is sent in pages, and the last page has no link to a next page", async () => {
  const ada = await someCaller("manage-repos");
  expect(OWNER_MAX_APPS).toBeGreaterThan(21);
  const names = Array.from({ length: 21 }, (_, at) => `Ferry ${at}`);
  for (const name of names) await send(ada.accessToken, "POST", OWN, { name, redirectUris: [REDIRECT] });
  const first = await send(ada.accessToken, "GET", OWN);
  const next = /<([^>]+)>; rel="next"/.exec(first.headers.get("link") ?? "")?.[1] ?? "";
  expect([first.body.length, next]).toEqual([20, `${world.origin}${OWN}?p=2`]);
  const second = await send(ada.accessToken, "GET", next.slice(world.origin.length));
  expect([second.body.length, second.headers.get("link")]).toEqual([1, null]);
  expect((await send(ada.accessToken, "GET", `${OWN}?p=3`)).body).toEqual([]);
});
