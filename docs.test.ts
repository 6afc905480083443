import { createHmac } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { eventPayloadSchema, webhookPayloadSchema } from "@keyhook/sdk";
import { importPKCS8 } from "jose";
import OpenAI from "openai";
import * as openid from "openid-client";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { parse as parseYaml } from "yaml";
import { operatorCommand, personActor } from "#core/access/actor.ts";
import type { SiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { createPersonalAccessToken } from "#core/accounts/tokens/personal-access-tokens.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { fillInCode } from "#core/docs/fill-in.ts";
import { type Guide, guides } from "#core/docs/guides.ts";
import { env, provideSettings } from "#core/env.ts";
import { addProvider } from "#core/inference/providers/change-provider.ts";
import { setKeys } from "#core/oauth/apps/app-keys.ts";
import { setAppPrivilege } from "#core/oauth/apps/app-privilege.ts";
import { updateApp } from "#core/oauth/apps/update-app.ts";
import { parseClientMetadata } from "#core/oauth/clients/client-metadata.ts";
import { clientKeyPair } from "#core/oauth/testing/assertion.ts";
import type { Browser } from "#core/oauth/testing/browser.ts";
import { allowDevice } from "#core/oauth/testing/device.ts";
import { signInByNextAuth } from "#core/oauth/testing/next-auth-visit.ts";
import { startWorld, type TestApp, type TestUser, type World } from "#core/oauth/testing/world.ts";
import { freePort } from "#core/postgres/free-port.ts";
import { startUpstream } from "./api/testing/inference-upstream.ts";
import { loadCommands } from "./scripts/admin/commands.ts";
import { parseArguments } from "./scripts/admin/parse-arguments.ts";
import { runCommand } from "./scripts/admin/run-command.ts";
import { type CodeBlock, codeBlocks } from "./scripts/test/code-blocks.ts";
import { listening, type Run, SnippetFolder } from "./scripts/test/snippet-folder.ts";
import { handleRequest } from "./server/handle-request.ts";
import { startDeliveries } from "./worker/deliveries.ts";
import type { Loop } from "./worker/loop.ts";

/** `<!-- run: … -->` before an example names its setup. `<!-- not run: … -->` says why an example cannot run. */
const ROOT = import.meta.dirname;
const NOT_RUN_MAX = 20;
/** On a busy machine, a program may take ten seconds to start. */
const PATIENTLY = { timeout: 60_000, interval: 50 };

let world: World;
let worker: Loop;
let mara: TestUser;
let session: SiteSession;
let browser: Browser;
let orgId: string;
let token: string;

beforeAll(async () => {
  provideSettings({ OUTBOUND_ALLOW_CIDRS: "127.0.0.0/8,::1/128" });
  world = await startWorld((req, res) => handleRequest(async (_, page) => void page.writeHead(404).end("a page"), req, res));
  mara = await world.user("mara");
  browser = world.browser();
  session = await world.signIn(browser, mara);
  await world.user("ada");
  orgId = await world.organization("tidepool", { [mara.id]: "admin" });
  const scopes = ["manage-repos", "webhooks", "jobs", "inference-api", "read-collections"];
  token = (
    await createPersonalAccessToken(personActor(session), mara.id, { name: "docs", scopes, expiresInDays: null }, noOrigin)
  ).token;
  worker = await startDeliveries();
});
afterAll(async () => {
  await worker?.stop();
  await world?.stop();
});

type Course = {
  guide: Guide;
  folder: SnippetFolder;
  app: TestApp;
  port: number;
  redirectUri: string;
  answers: Map<string, unknown>;
  last: Run;
};

type Play = (code: string, course: Course, block: CodeBlock) => Promise<void>;

const visit = async (url: string): Promise<URL> => {
  const landed = await world.follow(browser, url, session);
  if (landed instanceof URL) return landed;
  throw new Error(await landed.text());
};

async function shell(code: string, course: Course, stdin = ""): Promise<void> {
  course.last = await course.folder.shell(code, stdin);
  if (course.last.status !== 0) throw new Error(`ended with ${course.last.status}: ${course.last.out}${course.last.err}`);
}

const OPERATOR = /^npm run (?:--silent )?admin -- /;
const linesOf = (code: string) => code.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
const isOperating = (code: string) => linesOf(code).every((line) => OPERATOR.test(line));

/** Runs the commands in this process, because a new process for each command would take seconds. */
async function operate(code: string, course: Course): Promise<void> {
  course.last = { status: 0, out: "", err: "" };
  for (const line of linesOf(code)) {
    const words =
      line
        .replace(OPERATOR, "")
        .replace(/\s+#.*$/, "")
        .match(/"[^"]*"|\S+/g) ?? [];
    const argv = words.map((word) => word.replaceAll('"', ""));
    const request = parseArguments(argv, await loadCommands(argv));
    if (request.kind !== "run") throw new Error(`not a command: ${line}`);
    const outcome = await runCommand(request.command, request.values);
    if (outcome.isFailure) throw new Error(outcome.text);
    course.last.out += `${outcome.text}\n`;
  }
}

let written = 0;
const asFile = ({ folder }: Course, code: string, ending: string) => folder.write(`example-${++written}.${ending}`, code);

async function program(code: string, course: Course, command: string, ending: string): Promise<void> {
  course.last = await course.folder.program(command, [asFile(course, code, ending)]);
  if (course.last.status !== 0) throw new Error(`ended with ${course.last.status}: ${course.last.out}${course.last.err}`);
}

async function fragment(code: string, names: Record<string, unknown>): Promise<Record<string, unknown>> {
  const made = [...code.matchAll(/^const (\w+) =/gm)].map(([, name]) => name);
  const AsyncFunction = (async () => undefined).constructor as new (
    ...parts: string[]
  ) => (...given: unknown[]) => Promise<never>;
  return new AsyncFunction(...Object.keys(names), `${code}\nreturn { ${made.join(", ")} };`)(...Object.values(names));
}

const discover = (clientId: string, authentication?: openid.ClientAuth) =>
  openid.discovery(new URL(world.origin), clientId, undefined, authentication ?? openid.None(), {
    execute: [openid.allowInsecureRequests],
  });

async function receive(course: Course, command: string, args: string[]): Promise<void> {
  const { folder, port } = course;
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const post = async (path: string, body: object) =>
    (await fetch(`${world.origin}${path}`, { method: "POST", headers, body: JSON.stringify(body) })).json();
  const made = await post("/api/settings/webhooks", {
    url: `http://127.0.0.1:${port}/`,
    watched: [{ type: "user", name: "mara" }],
    generateSecret: true,
  });
  folder.environment.WEBHOOK_SECRET = made.secret;
  const child = folder.start(command, args);
  let out = "";
  child.stdout.on("data", (chunk) => (out += chunk));
  await listening(child, port);
  const sent = await post(`/api/settings/webhooks/${made.webhook.id}/test`, { kind: "repo.content.update" });
  expect(sent).toMatchObject({ status: 204, outcome: "delivered" });
  await vi.waitFor(() => expect(out).toMatch(/^repo\.content update \S+\/\S+\n$/), PATIENTLY);
  const refused = async (timestamp: number, key: Buffer) => {
    const stamp = String(timestamp);
    const signature = createHmac("sha256", key).update(`id.${stamp}.{}`).digest("base64");
    const forged = { "webhook-id": "id", "webhook-timestamp": stamp, "webhook-signature": `v1,${signature}` };
    return (await fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers: forged, body: "{}" })).status;
  };
  const now = Math.floor(Date.now() / 1_000);
  expect(await refused(now, Buffer.from("another key"))).toBe(401);
  expect(await refused(now - 600, Buffer.from(made.secret.slice(6), "base64"))).toBe(401);
  child.kill();
}

const plays: Record<string, Play> = {
  async site(code, course) {
    course.folder.environment.CLIENT_SECRET = course.app.secret ?? "";
    const child = course.folder.start(process.execPath, [asFile(course, code, "mjs")]);
    await listening(child, course.port);
    const left = await fetch(new URL("/", course.redirectUri), { redirect: "manual" });
    const back = await fetch(await visit(left.headers.get("location") ?? ""));
    expect(await back.json()).toMatchObject({ sub: mara.id, preferred_username: "mara" });
    expect((await fetch(`${course.redirectUri}?code=x&state=forged`)).status).toBe(400);
    child.kill();
  },
  async "next-auth"(code, course) {
    const site = `http://localhost:${course.port}`;
    const callback = { redirectUris: [`${site}/api/auth/callback/keyhook`] };
    const app = await world.app(mara, { ...callback, isConfidential: true });
    vi.stubEnv("CLIENT_SECRET", app.secret);
    vi.stubEnv("NEXTAUTH_URL", site);
    vi.stubEnv("NEXTAUTH_SECRET", "a secret of the site itself");
    const file = asFile(course, code.replaceAll(course.app.clientId, app.clientId), "mjs");
    const { GET: handler } = await import(pathToFileURL(file).href);
    const seen = await signInByNextAuth(handler, new URL(site).host, visit);
    vi.unstubAllEnvs();
    expect(seen).toMatchObject({ user: { name: "mara", email: mara.email } });
  },
  async authorize(code, course) {
    await shell(code, course);
    const landed = await visit(course.last.out.trim());
    expect(landed.href.startsWith(course.redirectUri)).toBe(true);
    course.answers.set("code", landed.searchParams.get("code"));
  },
  async redeem(code, course) {
    course.folder.environment.CLIENT_SECRET = course.app.secret ?? "";
    await shell(code, course, `${course.answers.get("code")}\n`);
    course.answers.set("tokens", JSON.parse(course.folder.read("tokens.json")));
  },
  async "org-ids"(code, course) {
    course.folder.environment.ORGANIZATION_ID = orgId;
    await shell(code, course);
    expect(course.last.out).toMatch(/^303 http\S+\/interaction\/\S+\n$/);
  },
  async "used-code"(code, course) {
    await shell(code, course);
    course.answers.set("used code", JSON.parse(course.last.out));
  },
  async "device program"(code, course) {
    const child = course.folder.start(process.execPath, [asFile(course, code, "mjs")]);
    let out = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (out += chunk));
    const address = await vi.waitUntil(() => /http\S+user_code=[\w-]+/.exec(out)?.[0], PATIENTLY);
    const userCode = new URL(address).searchParams.get("user_code") ?? "";
    expect([address, out]).toEqual([
      `${world.origin}/device?user_code=${userCode}`,
      expect.stringContaining(`enter ${userCode}`),
    ]);
    await allowDevice(session, userCode);
    await vi.waitUntil(() => out.includes("Signed in as mara"), PATIENTLY);
  },
  async "device start"(code, course) {
    await shell(code, course);
    const answer = JSON.parse(course.last.out);
    course.answers.set("device", answer);
    await allowDevice(session, answer.user_code);
  },
  async "device poll"(code, course) {
    await shell(code, course);
    expect(JSON.parse(course.last.out)).toMatchObject({ access_token: expect.any(String) });
  },
  async "create webhook"(code, course) {
    await shell(code, course);
    const answer = JSON.parse(course.last.out);
    course.answers.set("webhook", answer);
    course.folder.environment.WEBHOOK_ID = answer.webhook.id;
  },
  async "test webhook"(code, course) {
    await shell(code, course);
    expect(JSON.parse(course.last.out)).toMatchObject({ outcome: expect.any(String), delivery: expect.any(String) });
  },
  async relay(code, course) {
    const said: string[] = [];
    const server = createServer((req, res) => {
      said.push(`${req.method} ${req.url}`);
      res.writeHead(201).end("from the laptop");
    });
    await new Promise<void>((listens) => server.listen(course.port, "localhost", listens));
    const child = course.folder.start(process.execPath, [asFile(course, code, "ts")]);
    let err = "";
    child.stderr.on("data", (chunk) => (err += chunk));
    const headers = { authorization: `Bearer ${token}` };
    const relay = await vi.waitFor(async () => {
      const answer = await fetch(`${world.origin}/api/settings/relays/laptop`, { headers });
      const { relay: found } = (await answer.json()) as { relay?: { url: string; isListening: boolean } };
      expect(found, err).toMatchObject({ isListening: true });
      return found as { url: string };
    }, PATIENTLY);
    const answer = await fetch(`${relay.url}/webhooks/onPush?x=1`, { method: "POST", body: "{}" });
    expect([answer.status, await answer.text()]).toEqual([201, "from the laptop"]);
    expect(said).toEqual(["POST /webhooks/onPush?x=1"]);
    child.kill();
    server.closeAllConnections();
    server.close();
  },
  "receiver node": (code, course) => receive(course, process.execPath, [asFile(course, code, "mjs")]),
  "receiver python": (code, course) => receive(course, "python3", [asFile(course, code, "py")]),
  async "pushed request"(code, course) {
    const config = await discover(course.app.clientId, openid.ClientSecretBasic(course.app.secret));
    const verifier = openid.randomPKCECodeVerifier();
    const { url } = await fragment(code, {
      client: openid,
      config,
      redirect_uri: course.redirectUri,
      scope: "openid profile",
      state: "a state",
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    });
    const landed = await visit((url as URL).href);
    const tokens = await openid.authorizationCodeGrant(config, landed, { expectedState: "a state", pkceCodeVerifier: verifier });
    expect(tokens.token_type).toBe("bearer");
  },
  async "bound tokens"(code, course) {
    const issuer = new URL(world.origin);
    const config = await discover(course.app.clientId, openid.ClientSecretBasic(course.app.secret));
    const verifier = openid.randomPKCECodeVerifier();
    const callbackUrl = await visit(
      openid.buildAuthorizationUrl(config, {
        redirect_uri: course.redirectUri,
        scope: "openid profile offline_access",
        prompt: "consent",
        state: "a state",
        code_challenge: await openid.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
      }).href,
    );
    const checks = { expectedState: "a state", pkceCodeVerifier: verifier };
    const made = await fragment(code, { client: openid, config, callbackUrl, checks, issuer });
    expect(made.tokens).toMatchObject({ token_type: "dpop" });
    expect(made.user).toMatchObject({ sub: mara.id });
    expect((made.me as Response).status).toBe(200);
    expect(made.next).toMatchObject({ token_type: "dpop" });
  },
  async "keys in place of a secret"(code, course) {
    const app = await world.app(mara, { redirectUris: [course.redirectUri] });
    await setKeys(operatorCommand, app.id, { jwks: course.last.out, jwksUri: "" }, noOrigin);
    const readFile = async (name: string) => course.folder.read(name);
    const issuer = new URL(world.origin);
    const execute = [openid.allowInsecureRequests];
    const discovery: typeof openid.discovery = (at, id, metadata, by) => openid.discovery(at, id, metadata, by, { execute });
    const client = { ...openid, discovery };
    const { config } = await fragment(code, { client, importPKCS8, readFile, issuer, clientId: app.clientId });
    const answer = await openid.tokenIntrospection(config as openid.Configuration, "no token of ours");
    expect(answer).toEqual({ active: false });
  },
  async "FAPI 2.0"(code, { redirectUri }) {
    const app = await world.app(mara, { redirectUris: [redirectUri] });
    const { jwk, privateKey: key } = await clientKeyPair();
    await setKeys(operatorCommand, app.id, { jwks: JSON.stringify(jwk), jwksUri: "" }, noOrigin);
    await updateApp(operatorCommand, app.id, { securityProfile: "fapi2" }, noOrigin);
    const execute = [openid.allowInsecureRequests];
    const discovery: typeof openid.discovery = (at, id, metadata, by) => openid.discovery(at, id, metadata, by, { execute });
    const client = { ...openid, discovery };
    const { config } = await fragment(code, { client, key, issuer: new URL(world.origin), clientId: app.clientId });
    const code_challenge = await openid.calculatePKCECodeChallenge(openid.randomPKCECodeVerifier());
    const request = { redirect_uri: redirectUri, scope: "openid", code_challenge, code_challenge_method: "S256" };
    const url = await openid.buildAuthorizationUrlWithPAR(config as openid.Configuration, request);
    expect(url.searchParams.get("request_uri")).toMatch(/^urn:/);
  },
  async "token exchange"(code, course) {
    const scopes = ["openid", "read-repos"];
    const app = await world.app(mara, { owner: { orgId }, isConfidential: true, isBound: true, scopes });
    await setAppPrivilege(operatorCommand, app.id, "token-exchange", true, noOrigin);
    Object.assign(course.folder.environment, { CLIENT_ID: app.clientId, CLIENT_SECRET: app.secret });
    await shell(code.replace("mara@example.com", mara.email), course);
    course.answers.set("exchanged", JSON.parse(course.last.out));
  },
  async "metadata document"(code) {
    expect(parseClientMetadata(JSON.parse(code), { authMethods: ["none", "private_key_jwt"] })).toMatchObject({
      client_name: expect.any(String),
    });
  },
  async "platform commands"(code, course) {
    const [revoke, ...others] = code.split("\n").reverse();
    expect(revoke).toContain("platform revoke");
    // Later examples use the platform, so `platform revoke` is not run.
    await operate(others.reverse().join("\n"), course);
    course.folder.environment.PLATFORM_TOKEN = /^token: (\S+)$/m.exec(course.last.out)?.[1] ?? "";
  },
  async "platform's call"(code, course) {
    await shell(code, course);
    course.answers.set("sync", JSON.parse(course.last.out));
  },
  async sdk(code, course) {
    const { TOKEN_PREFIX } = env();
    await program(code.replace(`"${TOKEN_PREFIX}…"`, JSON.stringify(token)), course, process.execPath, "ts");
  },
  async openai(code, course) {
    const upstream = await startUpstream();
    const models = [{ name: "tide/small", upstreamName: "tide-upstream" }];
    await addProvider(
      operatorCommand,
      { name: "Next door", baseUrl: upstream.url, apiKey: "sk-a-key-of-the-operator", isOwnNetworkAllowed: true, models },
      noOrigin,
    );
    const messages = [{ role: "user", content: "When?" }];
    const { stream } = await fragment(code, { OpenAI, accessToken: course.folder.environment.TOKEN, messages });
    let chunks = 0;
    for await (const _ of stream as AsyncIterable<unknown>) chunks++;
    expect(chunks).toBeGreaterThan(1);
    await upstream.stop();
  },
  async resource(code, course) {
    await operate(commandsOf(code), course);
    const [, CLIENT_ID] = /^client_id: (\S+)$/m.exec(course.last.out) ?? [];
    const [, CLIENT_SECRET] = /^client_secret: (\S+)$/m.exec(course.last.out) ?? [];
    Object.assign(course.folder.environment, { CLIENT_ID, CLIENT_SECRET });
  },
  async introspection(code, course) {
    await shell(commandsOf(code), course);
    expect(JSON.parse(course.last.out)).toEqual({ active: false });
  },
  async "audit head"(code, course) {
    const [, head = ""] = /^head: (\S+)$/m.exec(course.last.out) ?? [];
    await operate(code.replace("48213:9b4c…", head), course);
  },
  async "standard webhooks"(code) {
    const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
    const body = '{"event":{}}';
    const stamp = String(Math.floor(Date.now() / 1_000));
    const signature = createHmac("sha256", Buffer.alloc(32, 7)).update(`an-id.${stamp}.${body}`).digest("base64");
    const headers = { "webhook-id": "an-id", "webhook-timestamp": stamp, "webhook-signature": `v1,${signature}` };
    const { Webhook } = await import("standardwebhooks");
    const rest = code.replace(/^import .*\n/, "");
    await fragment(rest, { Webhook, secret, body, headers });
    await expect(fragment(rest, { Webhook, secret, body: "{}", headers })).rejects.toThrow(/signature/i);
  },
};

const schemas = { payload: webhookPayloadSchema, event: eventPayloadSchema };

function expectLike(example: unknown, answer: unknown, at = "$"): void {
  const formOf = (value: unknown) => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value);
  expect(formOf(answer), at).toBe(formOf(example));
  if (Array.isArray(example) && Array.isArray(answer) && example.length > 0 && answer.length > 0) {
    expectLike(example[0], answer[0], `${at}[0]`);
  } else if (formOf(example) === "object") {
    for (const [name, value] of Object.entries(example as object)) {
      expect(answer, at).toHaveProperty([name]);
      expectLike(value, (answer as Record<string, unknown>)[name], `${at}.${name}`);
    }
  }
}

const commandsOf = (transcript: string): string =>
  transcript
    .split("\n")
    .flatMap((line) => (line.startsWith("$ ") ? [line.slice(2)] : []))
    .join("\n");

async function answerTo(what: string, { answers }: Course): Promise<unknown> {
  const path = /^GET (\S+)$/.exec(what)?.[1];
  if (!path) return answers.get(what);
  const { access_token = token } = (answers.get("tokens") ?? {}) as { access_token?: string };
  return (await fetch(`${world.origin}${path}`, { headers: { authorization: `Bearer ${access_token}` } })).json();
}

async function play(block: CodeBlock, code: string, course: Course): Promise<void> {
  const { verb, what = "" } = block.directive ?? {};
  if (verb === "run") {
    const named = plays[what];
    if (!named) throw new Error(`docs.test.ts knows nothing of "${what}"`);
    return named(code, course, block);
  }
  if (verb === "like") return expectLike(JSON.parse(code), await answerTo(what, course));
  if (verb === "schema" || verb === "example") {
    const schema = schemas[what as keyof typeof schemas] ?? eventPayloadSchema;
    return void expect(schema.parse(JSON.parse(code))).toEqual(JSON.parse(code));
  }
  const { language } = block;
  if (language === "json") return void JSON.parse(code);
  if (language === "yaml") return void parseYaml(code.replace(/^---\n|\n---$/g, ""));
  if (["http", "html", "text"].includes(language)) return;
  if (language === "sh") return isOperating(code) ? operate(code, course) : shell(code, course);
  if (language === "console") {
    const typed = commandsOf(code);
    return isOperating(typed) ? operate(typed, course) : shell(typed, course);
  }
  if (["js", "ts"].includes(language)) return program(code, course, process.execPath, language === "ts" ? "ts" : "mjs");
  if (language === "python") return program(code, course, "python3", "py");
  throw new Error(`an example in "${language}" cannot be run: say why in a comment before it`);
}

const read = guides
  .filter(({ path }) => existsSync(join(ROOT, path)))
  .map((guide) => ({
    guide,
    blocks: codeBlocks(readFileSync(join(ROOT, guide.path), "utf8")),
  }));
const isNotRun = ({ directive }: CodeBlock) => directive?.verb === "not run";
const isElsewhere = ({ path }: Guide, { directive }: CodeBlock) => !path.startsWith("docs/guides/") && directive === undefined;

describe("every example runs", () => {
  test.each(read.filter(({ guide, blocks }) => blocks.some((block) => !isNotRun(block) && !isElsewhere(guide, block))))(
    "$guide.path",
    { timeout: 3 * PATIENTLY.timeout },
    async ({ guide, blocks }) => {
      const folder = new SnippetFolder();
      try {
        const port = await freePort();
        const redirectUri = `http://localhost:${port}/callback`;
        const isDevice = guide.slug === "device";
        const app = await world.app(mara, {
          redirectUris: [redirectUri],
          isConfidential: !isDevice,
          isDeviceFlowAllowed: isDevice,
        });
        const { VENDOR, TOKEN_PREFIX, BRAND_NAME } = env();
        const filling = { origin: world.origin, brand: BRAND_NAME, vendor: VENDOR, tokenPrefix: TOKEN_PREFIX };
        const forApp = { clientId: app.clientId, redirectUri, scope: "openid profile email" };
        Object.assign(folder.environment, {
          TOKEN: token,
          KEYHOOK_TOKEN: token,
          KEYHOOK_URL: world.origin,
          ORIGIN: world.origin,
        });
        const course: Course = {
          guide,
          folder,
          app,
          port,
          redirectUri,
          answers: new Map(),
          last: { status: 0, out: "", err: "" },
        };
        for (const block of blocks.filter((each) => !isNotRun(each) && !isElsewhere(guide, each))) {
          const code = fillInCode(block.code, { ...filling, app: forApp }).replaceAll("8080", String(port));
          await play(block, code, course).catch((error: Error) => {
            throw new Error(`${guide.path}:${block.line}: ${error.message}`, { cause: error });
          });
        }
      } finally {
        folder.remove();
      }
    },
  );
});

test("only few examples are not run, and each of these gives a reason", () => {
  const notRun = read.flatMap(({ guide, blocks }) =>
    blocks.filter(isNotRun).map(({ line, directive }) => `${guide.path}:${line}: ${directive?.what}`),
  );
  for (const reason of notRun) expect(reason).toMatch(/: \S.{9,}/);
  expect(notRun.length, notRun.join("\n")).toBeLessThanOrEqual(NOT_RUN_MAX);
});
