import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import { createPersonalAccessToken } from "#core/accounts/tokens/personal-access-tokens.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { newId } from "#core/ids.ts";
import { exchange, prepareExchange } from "#core/oauth/testing/exchange.ts";
import { startWorld, type World } from "#core/oauth/testing/world.ts";
import { handleRequest } from "./handle-request.ts";

/** These are rules 3 to 5 of docs/specification/organizations-and-tokens.md#token-exchange. */
let world: World;
beforeAll(async () => {
  world = await startWorld((req, res) => handleRequest(async (_, page) => void page.writeHead(404).end(), req, res));
});
afterAll(() => world.stop());

const scopes = ["openid", "profile", "read-repos", "write-repos", "manage-repos", "gated-repos", "read-collections"];

async function scene() {
  const at = await prepareExchange(world, { scopes });
  await db().handle.create({ data: { handle: at.orgName, orgId: at.orgId } });
  return at;
}

const api = async (token: string, method: string, path: string, body?: object) => {
  const response = await fetch(world.origin + path, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json().catch(() => undefined) };
};

const personalToken = async (userId: string) =>
  (await createPersonalAccessToken(operatorCommand, userId, { name: "t", scopes: ["manage-repos"], expiresInDays: 1 }, noOrigin))
    .token;

test("examples/org-token-exchange runs unmodified, and shows what each token may do", async () => {
  const { app, orgName, writer, reader } = await scene();
  const env = { ...process.env, ISSUER: world.origin, CLIENT_ID: app.clientId, CLIENT_SECRET: app.secret, ORG: orgName };
  const script = join(import.meta.dirname, "../examples/org-token-exchange/exchange.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [script, writer.email, reader.email], { env });
  const said = stdout.split("\n").filter((line) => /^ {2}may/.test(line));
  expect(
    said.map((line) =>
      line
        .replace(/ {2,}/g, "|")
        .split("|")
        .slice(1, 3)
        .join(": ")
        .replace(/ \d{3}.*/, ""),
    ),
  ).toEqual([
    "may: say whose token it is",
    "may: create a private repository of the organization",
    "may: read it",
    "may: write to it",
    "may not: create a repository of the member's own",
    "may: say whose token it is",
    "may: read it",
    "may not: write to it",
    "may not: create a repository of the member's own",
    "may: delete it again",
  ]);
  expect(said.find((line) => line.includes("may not") && line.includes("write to it"))).toMatch(/403 .*role/);
});

test("S95 access within the organization depends on role and scope, and other private resources are inaccessible", async () => {
  const at = await scene();
  const { writer, orgName } = at;
  const second = `second-${newId().slice(-6)}`;
  const secondId = await world.organization(second, { [writer.id]: "admin" });
  await db().handle.create({ data: { handle: second, orgId: secondId } });
  const own = await personalToken(writer.id);
  const name = `notes-${newId().slice(-6)}`;
  for (const organization of [orgName, second, writer.username]) {
    const made = await api(own, "POST", "/api/repos/create", { type: "model", name, organization, private: true });
    expect([organization, made.status]).toEqual([organization, 200]);
  }
  const open = await api(own, "POST", "/api/repos/create", { type: "model", name: `${name}-open`, organization: second });
  expect(open.status).toBe(200);

  const token = (await exchange(at, writer.email)).body.access_token;
  const status = async (path: string) => (await api(token, "GET", path)).status;
  expect(await status(`/api/models/${orgName}/${name}`)).toBe(200);
  expect(await status(`/api/models/${second}/${name}-open`)).toBe(200);
  const hidden = await api(token, "GET", `/api/models/${second}/${name}`);
  expect([hidden.status, hidden.body]).toEqual(Object.values(await api(token, "GET", `/api/models/${second}/nothing-here`)));
  expect(hidden.status).toBe(404);
  expect(await status(`/api/models/${writer.username}/${name}`)).toBe(404);

  const narrow = (await exchange(at, writer.email, { scope: "profile" })).body.access_token;
  expect((await api(narrow, "GET", `/api/models/${orgName}/${name}`)).status).toBe(404);
  const create = { type: "model", name: `${name}-2`, organization: orgName };
  const unscoped = await api(
    (await exchange(at, writer.email, { scope: "read-repos" })).body.access_token,
    "POST",
    "/api/repos/create",
    create,
  );
  expect([unscoped.status, JSON.stringify(unscoped.body)]).toEqual([403, expect.stringContaining("insufficient_scope")]);
  const elsewhere = await api(token, "POST", "/api/repos/create", { ...create, organization: second });
  expect([403, 404]).toContain(elsewhere.status);

  const whoami = await api(token, "GET", "/api/whoami-v2");
  expect(whoami.body).toMatchObject({ name: writer.username, orgs: [{ name: orgName, roleInOrg: "write" }] });
  expect(whoami.body.orgs).toHaveLength(1);
  await db().membership.delete({ where: { orgId_userId: { orgId: at.orgId, userId: writer.id } } });
  expect(await status("/api/whoami-v2")).toBe(401);
});
