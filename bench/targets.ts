import { type ChildProcess, fork, spawn } from "node:child_process";
import { hash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { operatorCommand } from "#core/access/actor.ts";
import { createOrganization } from "#core/accounts/organizations/create-organization.ts";
import { setPlan } from "#core/accounts/organizations/set-plan.ts";
import { findSiteSession, type SiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { siteSessionCookie } from "#core/accounts/sessions/site-session-cookie.ts";
import { startSiteSession } from "#core/accounts/sessions/start-site-session.ts";
import { createUser } from "#core/accounts/users/create-user.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { newToken } from "#core/crypto/token.ts";
import { pool } from "#core/db.ts";
import { provideSettings } from "#core/env.ts";
import { openInstance } from "#core/instance/open-instance.ts";
import { createApp } from "#core/oauth/apps/create-app.ts";
import { CLI_CLIENT_ID } from "#core/oauth/apps/ensure-cli-app.ts";
import { setAppPrivilege } from "#core/oauth/apps/set-app-privilege.ts";
import { upsertArtifact } from "#core/oauth/artifact-store.ts";
import { readConsentRequest } from "#core/oauth/consents/consent-request.ts";
import { grantConsent } from "#core/oauth/consents/grant-consent.ts";
import { newUserCode } from "#core/oauth/device/user-code.ts";
import { finishLogin } from "#core/oauth/finish-login.ts";
import { readInteraction } from "#core/oauth/interaction.ts";
import { DEVICE_CODE_SECONDS } from "#core/oauth/lifetimes.ts";
import { Browser } from "#core/oauth/testing/browser.ts";
import { asOwner } from "#core/testing/as-owner.ts";

/** A running provider with a person who has already agreed to a confidential app. */
export type Target = {
  name: string;
  origin: string;
  pid: number;
  clientId: string;
  secret: string;
  /** Signed in; consent is stored, so that an authorization request is answered with a code at once. */
  browser: Browser;
  paths: { authorize: string; token: string; userinfo: string; introspect: string; whoami?: string };
  /** A public client for the device flow. */
  deviceClientId: string;
  /** A client that may exchange the addresses of these members for tokens. */
  exchange: { clientId: string; secret: string; emails: string[] };
  /** Device codes that nobody has answered. */
  makeDeviceCodes(clientId: string): Promise<string[]>;
  /** Where the web process tells how many statements it has sent. */
  statementsSocket?: string;
  stop(): Promise<void>;
};

export const REDIRECT_URI = "https://app.example.test/callback";
export const SCOPE = "openid profile email offline_access";

/** The load to hold: so many devices that poll every five seconds. */
export const DEVICES = 5_000;
// The engine's memory store forgets what is older than its 1,000 newest entries.
const BARE_DEVICES = 500;

export async function startBare(): Promise<Target> {
  const child = fork(join(import.meta.dirname, "bare-provider.ts"), { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const [{ origin }] = (await once(child, "message")) as [{ origin: string }];
  const target: Target = {
    name: "bare engine, in memory",
    origin,
    pid: child.pid as number,
    clientId: "bench",
    secret: "a-secret-that-is-long-enough-for-the-benchmark",
    browser: new Browser(origin),
    paths: { authorize: "/auth", token: "/token", userinfo: "/me", introspect: "/token/introspection" },
    deviceClientId: "bench-device",
    exchange: {
      clientId: "bench",
      secret: "a-secret-that-is-long-enough-for-the-benchmark",
      emails: Array.from({ length: EXCHANGED }, (_, at) => memberEmail(at)),
    },
    makeDeviceCodes: (clientId) => askForDeviceCodes(target, clientId),
    stop: () => end(child),
  };
  await agreeAtBare(target);
  return target;
}

/** Clicks through the engine's own development pages once. */
async function agreeAtBare(target: Target): Promise<void> {
  let url = authorizeUrl(target).href;
  for (let hops = 0; hops < 10; hops++) {
    const response = await target.browser.fetch(url);
    const location = response.headers.get("location");
    if (location) {
      if (location.startsWith(REDIRECT_URI)) return;
      url = new URL(location, target.origin).href;
      continue;
    }
    const isLogin = (await response.text()).includes('name="login"');
    const form = new URLSearchParams(isLogin ? { prompt: "login", login: "mara", password: "x" } : { prompt: "consent" });
    const answered = await target.browser.fetch(url, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: form.toString(),
    });
    url = new URL(answered.headers.get("location") ?? "", target.origin).href;
  }
  throw new Error("the bare engine did not finish its sign-in");
}

export async function startService(): Promise<Target> {
  const directory = mkdtempSync(join(tmpdir(), "keyhook-bench-"));
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const statementsSocket = join(directory, "statements");
  const settings = {
    PORT: String(port),
    DATA_DIR: directory,
    ORIGIN: origin,
    LOG_LEVEL: "warn",
    NODE_ENV: "production",
    ANONYMOUS_ADDRESS_PERCENT: "100",
  } as const;
  const child = spawn(process.execPath, ["supervisor.ts"], {
    env: { ...environment(), ...settings, ...countStatements(statementsSocket) },
    stdio: ["ignore", "ignore", "inherit"],
  });
  // Whatever goes wrong here must not leave a service behind.
  process.once("exit", () => child.kill("SIGTERM"));
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
  await ready(origin);
  provideSettings(settings);
  const instance = await openInstance();

  const user = { username: "mara", email: "mara@example.test", fullName: "Mara Lindqvist", password: "a long enough passphrase" };
  const { id: userId } = await createUser(operatorCommand, user, noOrigin);
  const { app, secret } = await createApp(
    operatorCommand,
    {
      owner: { userId },
      name: "Bench",
      redirectUris: [REDIRECT_URI],
      scopes: ["openid", "profile", "email"],
      isConfidential: true,
      isRefreshAllowed: true,
      isDeviceFlowAllowed: true,
    },
    noOrigin,
  );
  const browser = new Browser(origin);
  const { token } = await startSiteSession(userId, noOrigin);
  browser.setCookie(siteSessionCookie().name, token);
  const target: Target = {
    name: "Keyhook on Postgres",
    origin,
    pid: child.pid as number,
    clientId: app.clientId,
    secret: secret ?? "",
    browser,
    paths: {
      authorize: "/oauth/authorize",
      token: "/oauth/token",
      userinfo: "/oauth/userinfo",
      introspect: "/oauth/introspect",
      whoami: "/api/whoami-v2",
    },
    deviceClientId: CLI_CLIENT_ID,
    exchange: await makeExchange(userId),
    makeDeviceCodes: insertDeviceCodes,
    statementsSocket,
    stop: async () => {
      await instance.close();
      await end(child);
      rmSync(directory, { recursive: true, force: true });
    },
  };
  await agree(target, (await findSiteSession(token)) as SiteSession);
  return target;
}

/** So many members has the organization, and tokens of so many of them are asked for. */
export const MEMBERS = 100_000;
const EXCHANGED = 5_000;
const memberEmail = (at: number) => `member-${at}@example.test`;

/** An Enterprise organization with as many members as a large company, and its app. */
async function makeExchange(ownerId: string): Promise<Target["exchange"]> {
  const { id: orgId } = await createOrganization(
    operatorCommand,
    { name: "northwind", fullName: "Northwind", ownerId },
    noOrigin,
  );
  await setPlan(operatorCommand, orgId, "enterprise", noOrigin);
  const ids = `SELECT n, lpad(to_hex(n), 24, '0') AS id FROM generate_series(0, ${MEMBERS - 1}) AS n`;
  await pool().query(`INSERT INTO "user" (id, username, full_name, email, email_canonical, email_verified_at)
    SELECT id, 'member-' || n, 'Member', 'member-' || n || '@example.test', 'member-' || n || '@example.test', now() FROM (${ids}) m`);
  await pool().query(`INSERT INTO membership (org_id, user_id, role) SELECT $1, id, 'read' FROM (${ids}) m`, [orgId]);
  await asOwner(`ANALYZE "user", membership`);
  const { app, secret = "" } = await createApp(
    operatorCommand,
    {
      owner: { orgId },
      name: "Exchange",
      redirectUris: [],
      scopes: ["openid", "profile", "read-repos"],
      isConfidential: true,
      isBound: true,
    },
    noOrigin,
  );
  await setAppPrivilege(operatorCommand, app.id, "token-exchange", true, noOrigin);
  // Spread over all of them.
  const emails = Array.from({ length: EXCHANGED }, (_, at) => memberEmail(Math.floor((at * MEMBERS) / EXCHANGED)));
  return { clientId: app.clientId, secret, emails };
}

/** Answers the questions of the first request as the pages would: who is there, and whether they agree. */
async function agree(target: Target, session: SiteSession): Promise<void> {
  let url = authorizeUrl(target).href;
  for (let hops = 0; hops < 10; hops++) {
    const response = await target.browser.fetch(url);
    const location = new URL(response.headers.get("location") ?? "", target.origin);
    if (location.href.startsWith(REDIRECT_URI)) return;
    url = location.href;
    if (!location.pathname.startsWith("/interaction/")) continue;
    const at = { uid: location.pathname.split("/")[2] ?? "", cookie: target.browser.cookieHeader(url) };
    const interaction = await readInteraction(at);
    const login = await finishLogin(at, interaction, session);
    if (login.step === "continue") url = login.url;
    else {
      const { fingerprint } = await readConsentRequest(interaction.params, session);
      const answer = { accountId: session.userId, fingerprint, scopes: ["email"], orgIds: [], isAllOrgs: false };
      url = await grantConsent(at, session, answer, noOrigin);
    }
  }
  throw new Error("the service did not finish its sign-in");
}

export const verifier = "a-code-verifier-of-forty-three-characters-or-more";

export function authorizeUrl(target: Target): URL {
  const url = new URL(target.paths.authorize, target.origin);
  const challenge = hash("sha256", verifier, "base64url");
  url.search = new URLSearchParams({
    client_id: target.clientId,
    redirect_uri: REDIRECT_URI,
    response_type: "code",
    scope: SCOPE,
    state: "bench",
    code_challenge: challenge,
    code_challenge_method: "S256",
  }).toString();
  return url;
}

async function askForDeviceCodes({ origin, clientId, secret }: Target, askingId: string): Promise<string[]> {
  const authorization = `Basic ${Buffer.from(`${clientId}:${secret}`).toString("base64")}`;
  return inLanes(BARE_DEVICES, async () => {
    const body = new URLSearchParams({ client_id: askingId, scope: "openid" });
    const headers = askingId === clientId ? { authorization } : undefined;
    const response = await fetch(`${origin}/device/auth`, { method: "POST", headers, body });
    if (!response.ok) throw new Error(await response.text());
    return ((await response.json()) as { device_code: string }).device_code;
  });
}

/** Does it so many times, ten at once. */
async function inLanes<T>(count: number, make: () => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  let left = count;
  const lane = async () => {
    while (left-- > 0) made.push(await make());
  };
  await Promise.all(Array.from({ length: 10 }, lane));
  return made;
}

/** As the engine stores them: asked for by HTTP from one address, so many would be refused. */
async function insertDeviceCodes(clientId: string): Promise<string[]> {
  const iat = Math.floor(Date.now() / 1000);
  const params = { client_id: clientId, scope: "openid profile" };
  const deviceInfo = { ip: "203.0.113.7", userAgent: "hf_hub/1.29.0; python/3.12.3" };
  const common = { iat, exp: iat + DEVICE_CODE_SECONDS, kind: "DeviceCode", clientId, params, deviceInfo };
  return inLanes(DEVICES, async () => {
    const code = newToken("kh_device_");
    await upsertArtifact("DeviceCode", code, { ...common, userCode: newUserCode() }, DEVICE_CODE_SECONDS);
    return code;
  });
}

function countStatements(socketPath: string): Record<string, string> {
  const script = pathToFileURL(join(import.meta.dirname, "count-statements.ts")).href;
  return { BENCH_STATEMENTS_SOCKET: socketPath, NODE_OPTIONS: `--import=${script}` };
}

function environment(): NodeJS.ProcessEnv {
  const { DATABASE_URL: _url, DATABASE_OWNER_URL: _owner, SECRET_KEY: _key, ...rest } = process.env;
  return rest;
}

async function ready(origin: string): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    const answer = await fetch(`${origin}/readyz`).catch(() => undefined);
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error("the service did not start");
}

async function end(child: ChildProcess): Promise<void> {
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  await exited;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}
