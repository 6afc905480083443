import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { exportPKCS8 } from "jose";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import type { SiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { childEnvironment } from "#core/env.ts";
import { setKeys } from "#core/oauth/apps/app-keys.ts";
import { updateApp } from "#core/oauth/apps/update-app.ts";
import { clientKeyPair } from "#core/oauth/testing/assertion.ts";
import { Browser } from "#core/oauth/testing/browser.ts";
import { allowDevice } from "#core/oauth/testing/device.ts";
import { signInByNextAuth } from "#core/oauth/testing/next-auth-visit.ts";
import { startWorld, type World } from "#core/oauth/testing/world.ts";
import { freePort } from "#core/postgres/free-port.ts";
import {
  browserSnippet,
  curlSnippet,
  deviceSnippet,
  nextAuthSnippet,
  nodeSnippet,
  type SnippetApp,
  sampleRedirectUri,
} from "./snippets.ts";

// These tests run the snippets as users copy them, except those in Python and for token exchange.
let world: World;
let browser: Browser;
let session: SiteSession;
let userId: string;
let owner: Awaited<ReturnType<World["user"]>>;
const directory = mkdtempSync(join(tmpdir(), "keyhook-snippets-"));
const children: ChildProcessWithoutNullStreams[] = [];

beforeAll(async () => {
  world = await startWorld();
  owner = await world.user("mara");
  userId = owner.id;
  browser = new Browser(world.origin);
  session = await world.signIn(browser, owner);
  symlinkSync(join(import.meta.dirname, "../../../node_modules"), join(directory, "node_modules"));
});

afterAll(async () => {
  for (const child of children) child.kill();
  await world.stop();
  rmSync(directory, { recursive: true, force: true });
});

async function sample(redirectUri: string, isConfidential: boolean): Promise<SnippetApp & { secret: string }> {
  const app = await world.app(owner, { redirectUris: [redirectUri], isConfidential, isDeviceFlowAllowed: true });
  const { clientId, secret = "" } = app;
  return { issuer: world.origin, clientId, hasSecret: isConfidential, scope: "openid profile email", redirectUri, secret };
}

async function visit(url: string): Promise<URL> {
  const landed = await world.follow(browser, url, session);
  if (landed instanceof URL) return landed;
  throw new Error(await landed.text());
}

function write(name: string, code: string): string {
  const file = join(directory, name);
  writeFileSync(file, code);
  return file;
}

function run(command: string, args: string[], secret: string, key = ""): ChildProcessWithoutNullStreams {
  const environment = childEnvironment({ CLIENT_SECRET: secret, CLIENT_KEY: key });
  const child = spawn(command, args, { cwd: directory, env: environment });
  children.push(child);
  return child;
}

function waitForOutput(child: ChildProcessWithoutNullStreams, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let printed = "";
    for (const output of [child.stdout, child.stderr]) {
      output.on("data", (text) => {
        printed += text;
        const found = pattern.exec(printed);
        if (found) resolve(found[1] ?? found[0]);
      });
    }
    child.once("close", () => reject(new Error(`The program ended without printing ${pattern}: ${printed}`)));
  });
}

const kinds = [
  ["public", false],
  ["confidential", true],
] as const;

type Required = { isParRequired?: boolean; isDpopRequired?: boolean; isFapi?: boolean };

describe("Node", () => {
  async function signIn(origin: string, child: ChildProcessWithoutNullStreams) {
    let failure = "";
    child.stderr.on("data", (text) => {
      failure += text;
    });
    const start = await vi
      .waitFor(() => fetch(origin, { redirect: "manual" }), { timeout: 25_000, interval: 50 })
      .catch(() => undefined);
    expect(start?.status, failure).toBe(303);
    const back = await fetch(await visit(start?.headers.get("location") ?? ""));
    expect(await back.json()).toMatchObject({ sub: userId, preferred_username: "mara", email: "mara@example.test" });
    const forged = await fetch(`${origin}/callback?code=x&state=forged`);
    expect(forged.status).toBe(400);
  }

  test.each(kinds)("signs in to a %s app", async (kind, isConfidential) => {
    const origin = `http://127.0.0.1:${await freePort()}`;
    const app = await sample(`${origin}/callback`, isConfidential);
    await signIn(origin, run(process.execPath, [write(`node-${kind}.mjs`, nodeSnippet(app))], app.secret));
  });

  test.each([
    ["pushed requests", { isParRequired: true }, false],
    ["proofs", { isDpopRequired: true }, false],
    ["keys", {}, true],
    ["pushed requests, proofs and keys", { isParRequired: true, isDpopRequired: true }, true],
    ["FAPI 2.0", { isParRequired: true, isDpopRequired: true, isFapi: true }, true],
  ])("signs in to an app that requires %s", async (what, { isFapi = false, ...required }: Required, isByKey) => {
    const origin = `http://127.0.0.1:${await freePort()}`;
    const redirectUri = `${origin}/callback`;
    const { id, clientId } = await world.app(owner, { redirectUris: [redirectUri], ...required });
    const { jwk, kid, privateKey } = await clientKeyPair();
    if (isByKey) await setKeys(operatorCommand, id, { jwks: JSON.stringify(jwk), jwksUri: "" }, noOrigin);
    if (isFapi) await updateApp(operatorCommand, id, { securityProfile: "fapi2" }, noOrigin);
    const code = nodeSnippet({
      isFapi,
      issuer: world.origin,
      clientId,
      hasSecret: false,
      scope: "openid profile email",
      redirectUri,
      key: isByKey ? { algorithm: "ES256", kid } : undefined,
      ...required,
    });
    await signIn(origin, run(process.execPath, [write(`node ${what}.mjs`, code)], "", await exportPKCS8(privateKey)));
  });
});

test("Browser signs in to a public app", async () => {
  const app = await sample("https://app.example.com/callback", false);
  const store = new Map<string, string>();
  const left: string[] = [];
  vi.stubGlobal("sessionStorage", {
    getItem: (key: string) => store.get(key),
    setItem: (key: string, value: string) => store.set(key, value),
  });
  vi.stubGlobal("location", { href: "", assign: (url: URL) => left.push(url.href) });
  const page = await import(pathToFileURL(write("browser.mjs", browserSnippet(app))).href);
  await page.signIn();
  vi.stubGlobal("location", { href: (await visit(left[0] ?? "")).href });
  const { user, accessToken } = await page.finishSignIn();
  vi.unstubAllGlobals();
  expect(user).toMatchObject({ sub: userId });
  expect((await world.userinfo(accessToken)).status).toBe(200);
});

describe("Next.js", () => {
  test.each(kinds)("signs in to a %s app", async (kind, isConfidential) => {
    const site = "http://localhost:8080";
    const app = await sample(`${site}/api/auth/callback/keyhook`, isConfidential);
    vi.stubEnv("CLIENT_SECRET", app.secret);
    vi.stubEnv("NEXTAUTH_URL", site);
    vi.stubEnv("NEXTAUTH_SECRET", "a secret of the site itself");
    const code = nextAuthSnippet({ ...app, brand: "Keyhook" });
    const { GET: handler } = await import(pathToFileURL(write(`next-${kind}.mjs`, code)).href);

    const body = await signInByNextAuth(handler, new URL(site).host, visit);
    vi.unstubAllEnvs();
    expect(body).toMatchObject({ user: { name: "mara", email: "mara@example.test" } });
  });
});

describe("curl", () => {
  test.each(kinds)("signs in to a %s app", async (_kind, isConfidential) => {
    const app = await sample("https://app.example.com/callback?tenant=it's", isConfidential);
    const child = run("bash", ["-c", curlSnippet(app)], app.secret);
    const [url, token, person] = [/^http\S+/, /"access_token":\s*"([^"]+)"/, /"sub":"([^"]+)"/].map((one) =>
      waitForOutput(child, one),
    );
    child.stdin.write(`${(await visit((await url) as string)).searchParams.get("code")}\n`);
    child.stdin.end(`${await token}\n`);
    expect(await person).toBe(userId);
  });
});

describe("Device", () => {
  // Each program waits for a polling interval, so the tests run at the same time.
  test.concurrent.each(kinds)("signs in to a %s app", { timeout: 60_000 }, async (kind, isConfidential) => {
    const app = await sample("https://app.example.com/callback", isConfidential);
    const child = run(process.execPath, [write(`device-${kind}.mjs`, deviceSnippet(app))], app.secret);
    const [shown, person] = [waitForOutput(child, /enter (\S+)/), waitForOutput(child, /"sub":"([^"]+)"/)];
    const [address, userCode] = [waitForOutput(child, /http\S+user_code=[\w-]+/), await shown];
    expect(await address).toBe(`${world.origin}/device?user_code=${userCode}`);
    await allowDevice(session, userCode);
    expect(await person).toBe(userId);
  });
});

test("a redirect URI on the developer's machine is preferred, and gets a port", () => {
  expect(sampleRedirectUri(["https://a.example/cb", "http://127.0.0.1/cb?x=1"])).toBe("http://127.0.0.1:8080/cb?x=1");
  expect(sampleRedirectUri(["http://[::1]/cb"])).toBe("http://[::1]:8080/cb");
  expect(sampleRedirectUri(["http://localhost:5173"])).toBe("http://localhost:5173");
  expect(sampleRedirectUri(["https://a.example/cb", "app:/cb"])).toBe("https://a.example/cb");
  expect(sampleRedirectUri([])).toMatch(/^https:/);
});
