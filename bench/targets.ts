import { hash } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { operatorCommand } from "#core/access/actor.ts";
import { createOrganization } from "#core/accounts/organizations/create-organization.ts";
import { setPlan } from "#core/accounts/organizations/set-plan.ts";
import { findSiteSession, type SiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { siteSessionCookie } from "#core/accounts/sessions/site-session-cookie.ts";
import { startSiteSession } from "#core/accounts/sessions/start-site-session.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { newToken } from "#core/crypto/token.ts";
import { provideSettings } from "#core/env.ts";
import { openInstance } from "#core/instance/open-instance.ts";
import { setAppPrivilege } from "#core/oauth/apps/app-privilege.ts";
import { CLI_CLIENT_ID, createApp } from "#core/oauth/apps/create-app.ts";
import { upsertArtifact } from "#core/oauth/artifacts/artifact-store.ts";
import { finishLogin } from "#core/oauth/authorization/finish-login.ts";
import { readInteraction } from "#core/oauth/authorization/interaction.ts";
import { readConsentRequest } from "#core/oauth/consents/consent-request.ts";
import { grantConsent } from "#core/oauth/consents/grant-consent.ts";
import { newUserCode } from "#core/oauth/device/user-code.ts";
import { DEVICE_CODE_SECONDS } from "#core/oauth/lifetimes.ts";
import { Browser } from "#core/oauth/testing/browser.ts";
import { asOwner } from "#core/testing/as-owner.ts";
import { type RunningService, startService as startRunningService, stopService } from "#core/testing/running-service.ts";
import { createOwner } from "./chaos/service.ts";

export type Target = {
  name: string;
  origin: string;
  pid: number;
  clientId: string;
  secret: string;
  browser: Browser;
  paths: { authorize: string; token: string; userinfo: string; introspect: string; whoami?: string };
  deviceClientId: string;
  exchange: { clientId: string; secret: string; emails: string[] };
  makeDeviceCodes(clientId: string): Promise<string[]>;
  statementsSocket?: string;
  stop(): Promise<void>;
};

export const REDIRECT_URI = "https://app.example.test/callback";
const SCOPE = "openid profile email offline_access";

/** The load to sustain: this many devices that poll every five seconds. */
export const DEVICES = 5_000;

export type ServiceTarget = Target & { running: RunningService; userId: string };

export async function startService(more: Record<string, string> = {}): Promise<ServiceTarget> {
  const directory = mkdtempSync(join(tmpdir(), "keyhook-bench-"));
  const statementsSocket = join(directory, "statements");
  const settings = { DATA_DIR: join(directory, "data"), LOG_LEVEL: "warn", ANONYMOUS_ADDRESS_PERCENT: "100", ...more } as const;
  const running = await startRunningService({ ...settings, ...countStatements(statementsSocket) });
  const { origin } = running;
  process.once("exit", () => running.process.kill("SIGTERM"));
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
  provideSettings({ ...settings, ORIGIN: origin });
  const instance = await openInstance();
  const userId = await createOwner();
  const stop = async () => {
    await instance.close();
    await stopService({ ...running, isDataShared: false });
  };
  return { ...(await prepareTarget(running, userId)), statementsSocket, running, userId, stop };
}

export async function prepareTarget({ origin, process: child }: RunningService, userId: string, members = MEMBERS) {
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
  const target = {
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
    exchange: await makeExchange(userId, members),
    makeDeviceCodes: insertDeviceCodes,
  };
  await agree(target, (await findSiteSession(token)) as SiteSession);
  return target;
}

const MEMBERS = 100_000;
export const EXCHANGED = 5_000;
export const memberEmail = (at: number) => `member-${at}@example.test`;

async function makeExchange(ownerId: string, members: number): Promise<Target["exchange"]> {
  const { id: orgId } = await createOrganization(
    operatorCommand,
    { name: "northwind", fullName: "Northwind", ownerId },
    noOrigin,
  );
  await setPlan(operatorCommand, orgId, "enterprise", noOrigin);
  const ids = `SELECT n, lpad(to_hex(n), 24, '0') AS id FROM generate_series(0, ${members - 1}) AS n`;
  // The owner's connection has no time limit for statements.
  await asOwner(`
    INSERT INTO "user" (id, username, full_name, email, email_canonical, email_verified_at)
      SELECT id, 'member-' || n, 'Member', 'member-' || n || '@example.test', 'member-' || n || '@example.test', now() FROM (${ids}) m;
    INSERT INTO membership (org_id, user_id, role) SELECT '${orgId}', id, 'read' FROM (${ids}) m;
    ANALYZE "user", membership`);
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
  const emails = Array.from({ length: EXCHANGED }, (_, at) => memberEmail(Math.floor((at * members) / EXCHANGED)));
  return { clientId: app.clientId, secret, emails };
}

async function agree(target: Omit<Target, "stop">, session: SiteSession): Promise<void> {
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

export function authorizeUrl(target: Omit<Target, "stop">): URL {
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

export async function inLanes<T>(count: number, make: () => Promise<T>, lanes = 10): Promise<T[]> {
  const made: T[] = [];
  let left = count;
  const lane = async () => {
    while (left-- > 0) made.push(await make());
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return made;
}

/** Writes to the database, because the service would refuse most HTTP requests from one IP address. */
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
