import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { PASSWORD, signedInPerson } from "#core/accounts/testing/people.ts";
import { createPersonalAccessToken } from "#core/accounts/tokens/personal-access-tokens.ts";
import { exchange, prepareExchange } from "#core/oauth/testing/exchange.ts";
import { refresh, signIn } from "#core/oauth/testing/sign-in.ts";
import { worldAt } from "#core/oauth/testing/world.ts";
import { service } from "#core/testing/shared-service.ts";

const secret = (what: string) => `${what}-${randomBytes(18).toString("base64url")}`;

const received: { headers: IncomingMessage["headers"]; body: string }[] = [];
const receiver = createServer(async (req, res) => {
  received.push({ headers: req.headers, body: await text(req) });
  res.end();
});

beforeAll(async () => {
  await once(receiver.listen(0, "127.0.0.1"), "listening");
});
afterAll(() => {
  receiver.closeAllConnections();
  receiver.close();
});

async function sendSignIn(login: string, password: string): Promise<Response> {
  const page = await (await fetch(`${service.origin}/login`)).text();
  const [found = ""] = page.match(/<form(?:(?!<\/form>)[\s\S])*?name="login"/) ?? [];
  const form = new FormData();
  for (const [, name = "", value = ""] of found.matchAll(/<input type="hidden" name="([^"]+)"(?: value="([^"]*)")?\/>/g))
    form.set(name, value.replaceAll("&quot;", '"'));
  form.set("login", login);
  form.set("password", password);
  const headers = { origin: service.origin, accept: "text/html" };
  return fetch(`${service.origin}/login`, { method: "POST", body: form, headers, redirect: "manual" });
}

// The shared service has the most verbose log.
test("S130 no process writes a secret to its log, whatever it is used for", { timeout: 180_000 }, async () => {
  const used: Record<string, string> = {};
  const ada = await signedInPerson("ada");
  const world = worldAt(service.origin);

  used["wrong password"] = secret("wrong");
  const refused = await sendSignIn(ada.username, used["wrong password"]);
  expect(refused.headers.getSetCookie().join()).not.toContain("session-");

  used.password = PASSWORD;
  const entered = await sendSignIn(ada.username, PASSWORD);
  const [, session = ""] = /session-\d+=([^;]+)/.exec(entered.headers.getSetCookie().join()) ?? [];
  expect(session).toHaveLength(43);
  used["session cookie"] = session;
  used["other session cookie"] = ada.token;
  const page = await fetch(`${service.origin}/settings/account`, {
    headers: { cookie: `session-${new URL(service.origin).port}=${session}` },
  });
  expect(page.status).toBe(200);

  const at = await signIn(world, { isConfidential: true, isRefreshAllowed: true }, { scope: "openid profile email" });
  const again = await refresh(at, at.tokens.refresh_token);
  Object.assign(used, { code: at.code, verifier: at.verifier, "client secret": at.app.secret });
  for (const [name, value] of Object.entries({ ...at.tokens, ...again.body }))
    if (name.endsWith("_token")) used[name] = value as string;
  used["first refresh token"] = at.tokens.refresh_token;
  const organization = await prepareExchange(world, { scopes: ["openid", "profile", "read-repos"] });
  const exchanged = await exchange(organization, organization.writer.email);
  used["exchanged token"] = exchanged.body.access_token;
  used["secret of the exchange"] = organization.app.secret ?? "";
  used["header of the app"] = world.basic(at.app.clientId, at.app.secret ?? "").slice("Basic ".length);

  const scopes = ["webhooks", "jobs", "manage-repos"] as const;
  const input = { name: "laptop", scopes: [...scopes], expiresInDays: 1 };
  const { token } = await createPersonalAccessToken(ada.actor, ada.id, input, { ip: null, userAgent: null });
  used["personal token"] = token;
  const api = async (method: string, path: string, body: object = {}) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const answer = await fetch(service.origin + path, { method, headers, body: JSON.stringify(body) });
    const said = await answer.text();
    expect([path, answer.status < 300, said]).toEqual([path, true, said]);
    return said === "" ? undefined : JSON.parse(said);
  };
  const { relay } = await api("PUT", "/api/settings/relays/laptop");
  used["key of the relay"] = new URL(relay.url).pathname.split("/")[2] ?? "";
  const address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook?key=`;
  used["key in a receiver's address"] = secret("key");
  used["webhook secret"] = secret("hook");
  used["secret of the relay's webhook"] = secret("relayed");
  const watched = [{ type: "user", name: ada.username }];
  const hook = { watched, url: address + used["key in a receiver's address"], secret: used["webhook secret"] };
  await api("POST", "/api/settings/webhooks", hook);
  await api("POST", "/api/settings/webhooks", { watched, url: relay.url, secret: used["secret of the relay's webhook"] });
  used["secret of a job"] = secret("job");
  const job = await api("POST", `/api/jobs/${ada.username}`, {
    command: ["sh", "-c", "true"],
    secrets: { WORD: used["secret of a job"] },
    flavor: "cpu-basic",
    dockerImage: "debian",
  });
  await api("POST", "/api/repos/create", { name: "harbour", type: "model" });
  await api("POST", "/api/repos/create", { name: "quay", type: "space", sdk: "static" });
  used["secret of a Space"] = secret("space");
  await api("POST", `/api/spaces/${ada.username}/quay/secrets`, { key: "WORD", value: used["secret of a Space"] });

  await fetch(relay.url, { method: "POST", body: "{}" });
  await fetch(`${service.origin}/healthz`);
  for (const value of Object.values(used)) {
    await fetch(`${service.origin}/api/whoami-v2?token=${value}`, { headers: { authorization: `Bearer ${value}x` } });
    await fetch(`${service.origin}/api/settings/webhooks`, {
      method: "POST",
      body: `{"secret":"${value}"`,
      headers: { authorization: `Bearer ${token}` },
    });
  }
  await vi.waitFor(() => expect(received.length).toBeGreaterThan(0), { timeout: 60_000, interval: 50 });
  expect(received[0]?.headers["x-webhook-secret"]).toBe(used["webhook secret"]);
  await vi.waitFor(
    async () => {
      const headers = { authorization: `Bearer ${token}` };
      const run = await (await fetch(`${service.origin}/api/jobs/${ada.username}/${job.id}`, { headers })).json();
      expect(["COMPLETED", "ERROR"]).toContain(run.status.stage);
    },
    { timeout: 60_000, interval: 100 },
  );

  const logged = await service.output();
  for (const line of ['"path":"/oauth/token"', '"path":"/login"', '"level":20']) expect(logged).toContain(line);
  for (const [what, value] of Object.entries(used)) {
    expect([what, value?.length > 11]).toEqual([what, true]);
    for (const trace of [value, encodeURIComponent(value), Buffer.from(value).toString("base64"), value.slice(-24)])
      expect(logged.includes(trace), what).toBe(false);
  }
});
