import { request } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { newId } from "#core/ids.ts";
import { setRegistrationPolicy } from "#core/oauth/registration/registration-policy.ts";
import { asApp, prepare, type SignIn, signIn } from "#core/oauth/testing/sign-in.ts";
import { startWorld, type World } from "#core/oauth/testing/world.ts";
import { api } from "../api/app.ts";
import { handleRequest } from "./handle-request.ts";

/** S51, S138: every input to a URL of the protocol or the API gets a response, and never 5xx. */
let world: World;
let at: SignIn;
beforeAll(async () => {
  world = await startWorld((req, res) => handleRequest(async (_, page) => void page.writeHead(404).end(), req, res));
  at = await signIn(world, { isConfidential: true });
  await setRegistrationPolicy(operatorCommand, { isOn: true }, noOrigin);
});
afterAll(() => world.stop());

const protocol: [string, string][] = [
  ["GET", "/oauth/authorize"],
  ["POST", "/oauth/authorize"],
  ["GET", "/oauth/authorize/some-interaction"],
  ["POST", "/oauth/token"],
  ["GET", "/oauth/userinfo"],
  ["POST", "/oauth/userinfo"],
  ["GET", "/oauth/jwks"],
  ["POST", "/oauth/revoke"],
  ["POST", "/oauth/introspect"],
  ["GET", "/oauth/logout"],
  ["POST", "/oauth/logout"],
  ["POST", "/oauth/logout/confirm"],
  ["GET", "/oauth/logout/success"],
  ["GET", "/.well-known/openid-configuration"],
  ["GET", "/.well-known/oauth-authorization-server"],
  ["GET", "/.well-known/oauth-protected-resource"],
  ["POST", "/oauth/register"],
  ["GET", "/oauth/register/some-client"],
  ["PUT", "/oauth/register/some-client"],
  ["DELETE", "/oauth/register/some-client"],
];

const routes: [string, string][] = api.routes
  .filter(({ method, path }) => method !== "ALL" && !path.includes("*"))
  .map(({ method, path }) => [method, path.replace(/:\w+/g, newId())]);
const apiRoutes = [...new Map(routes.map((route) => [route.join(" "), route])).values()];

type Sent = { method: string; path: string; headers?: Record<string, string | string[]>; body?: Buffer | string };

function send({ method, path, headers = {}, body }: Sent): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const req = request(`${world.origin}/`, { path, method, headers, agent: false }, (res) => {
      text(res).then((answer) => resolve({ status: res.statusCode ?? 0, body: answer }), reject);
    });
    req.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE" && error.code !== "ECONNRESET") reject(error);
    });
    req.end(body);
  });
}

const form = { "content-type": "application/x-www-form-urlencoded" };
const isForm = (method: string, path: string) => method === "POST" && path.startsWith("/oauth/");

async function expectRefused(sent: Sent) {
  const { status, body } = await send(sent);
  expect(status, `${sent.method} ${sent.path.slice(0, 100)} ${body.slice(0, 200)}`).toBeGreaterThanOrEqual(400);
  expect(status, body.slice(0, 200)).toBeLessThan(500);
}

const withNul = ["client_id=a%00b", "a%00b=c", "scope=openid%00&token=x&code=%00&refresh_token=%00", "%00"];
const notUtf8 = ["client_id=%ff%fe", "%c3%28=x", "state=%ed%a0%80", "x=%", "x=%zz", "x=%c0%80"];
const nulPaths = (path: string) => [`${path}/%00`, `${path}%00`];
const notUtf8Paths = (path: string) => [`${path}/%ff`, `${path}%c0%80`];
const someParameters = (count: number) => Array.from({ length: count }, (_, index) => `p${index}=1`).join("&");

async function expectLargeBodyRefused(method: string, path: string) {
  const body = `client_id=${"a".repeat(1024 * 1024)}`;
  await expectRefused({ method, path, headers: { ...form, "content-length": String(body.length) }, body });
  if (method === "POST") await expectRefused({ method, path, headers: { ...form, "transfer-encoding": "chunked" }, body });
}

async function expectNoFailure({ method, path }: Sent, headers: Sent["headers"]) {
  const sent = { method, path, headers: { ...(method === "POST" && form), ...headers }, body: method === "POST" ? "a=b" : "" };
  const { status, body } = await send(sent);
  expect(status, `${JSON.stringify(headers).slice(0, 200)} ${body.slice(0, 200)}`).toBeLessThan(500);
  expect(status).toBeGreaterThanOrEqual(200);
}

const bytes = Buffer.from([0x80, 0xff, 0xc3, 0x28, 0x22, 0x25, 0x7b]).toString("latin1");
const authorizations = [bytes, `Bearer ${bytes}`, `Basic ${bytes}`, `Bearer ${"a".repeat(8000)}`, "Bearer", ","].map(
  (authorization) => ({ authorization }),
);
const contentTypes = [
  { "content-type": bytes },
  { "content-type": "application/x-www-form-urlencoded; charset=no-such-charset" },
  { "content-encoding": "gzip", ...form },
];
const names = ["provider", "interaction", "resume", "session", "__Host-session", "keyhook-session", "next-auth.session-token"];
const cookies = [
  { cookie: bytes },
  { cookie: "=;;;=;a;%zz=%00;__Host-=" },
  { cookie: names.map((name) => `${name}=${bytes}; ${name}.sig=${bytes}`).join("; ") },
  { cookie: names.map((name) => `${name}=${"a".repeat(600)}`).join("; ") },
];
const others: Record<string, string>[] = [
  { origin: bytes },
  { accept: `${bytes}, */*;q=nonsense, text/html;q=-1` },
  { "user-agent": bytes.repeat(200) },
  { "x-forwarded-for": bytes, "x-forwarded-host": bytes, "x-forwarded-proto": bytes, forwarded: bytes },
  { "if-none-match": bytes, range: bytes, "accept-language": bytes, referer: bytes },
  { dpop: bytes, "oauth-client-attestation": bytes, "oauth-client-attestation-pop": "x" },
  { traceparent: bytes, "x-request-id": bytes },
];

describe.each(protocol)("%s %s", (method, path) => {
  async function expectTextRefused(encoded: string) {
    await expectRefused({ method, path: `${path}?${encoded}`, headers: method === "POST" ? form : {} });
    if (isForm(method, path)) await expectRefused({ method, path, headers: form, body: encoded });
  }

  test("S51 refuses a NUL byte", async () => {
    for (const encoded of withNul) await expectTextRefused(encoded);
    if (isForm(method, path)) await expectRefused({ method, path, headers: form, body: "client_id=a\0b" });
    for (const at of nulPaths(path)) await expectRefused({ method, path: at });
  });

  test("S51 refuses bytes that are not UTF-8", async () => {
    for (const encoded of notUtf8) await expectTextRefused(encoded);
    if (isForm(method, path)) {
      await expectRefused({ method, path, headers: form, body: Buffer.from([0x61, 0x3d, 0xff, 0xfe, 0xc3, 0x28]) });
    }
    for (const at of notUtf8Paths(path)) await expectRefused({ method, path: at });
  });

  test("S51 refuses ten thousand parameters", async () => {
    const [some, many] = [someParameters(1_000), someParameters(10_000)];
    await expectRefused({ method, path: `${path}?${some}`, headers: method === "POST" ? form : {} });
    await expectRefused({ method, path: `${path}?${many}` });
    if (isForm(method, path)) {
      await expectRefused({ method, path, headers: form, body: many });
      await expectRefused({ method, path, headers: form, body: some });
    }
  });

  test("S51 refuses a body of a megabyte, with and without Content-Length", () => expectLargeBodyRefused(method, path));

  test("S51 does not fail for junk in headers and cookies", async () => {
    for (const headers of [...authorizations, ...contentTypes, ...cookies, ...others])
      await expectNoFailure({ method, path }, headers);
  });
});

// All routes check text by the same code, so each route gets some of the texts, and all routes together get every text.
test.each(apiRoutes.map((route, at) => [...route, at] as const))(
  "S51 %s %s refuses NUL, bytes that are not UTF-8 and a megabyte, and does not fail for junk",
  async (method, path, at) => {
    const turn = <T>(list: readonly T[], by = at) => list[by % list.length] as T;
    for (const encoded of [turn(withNul), turn(notUtf8)])
      await expectRefused({ method, path: `${path}?${encoded}`, headers: method === "POST" ? form : {} });
    await expectRefused({ method, path: turn([...nulPaths(path), ...notUtf8Paths(path)]) });
    if (/^\/(api\/)?(datasets|spaces)\//.test(path)) return;
    await expectLargeBodyRefused(method, path);
    for (const own of [turn(authorizations), turn(authorizations, at + 3), turn(contentTypes)])
      await expectNoFailure({ method, path }, Object.assign({}, ...others, turn(cookies), own));
  },
);

test("S51 the API refuses ten thousand parameters", () =>
  expectRefused({ method: "GET", path: `/api/whoami-v2?${someParameters(10_000)}` }));

describe("S51 a known client gets no 5xx for", () => {
  const junk = ["", " ", "\u{1F511}", "a".repeat(50_000), "[]", "{}", "null", "__proto__", "constructor", "'; DROP TABLE x; --"];
  const parameters = ["grant_type", "code", "code_verifier", "redirect_uri", "refresh_token", "scope", "resource", "token"];

  test.each(["/oauth/token", "/oauth/introspect", "/oauth/revoke"])("nonsense in every parameter of %s", async (path) => {
    for (const grant_type of path === "/oauth/token" ? ["authorization_code", "refresh_token"] : [undefined]) {
      for (const name of parameters) {
        for (const value of junk) {
          const sent = { grant_type, code: "x", refresh_token: "x", code_verifier: "v".repeat(43), [name]: value };
          const response = await asApp(world, at.app, path, sent);
          expect(response.status, `${name}=${value.slice(0, 40)}`).toBeLessThan(500);
          await response.arrayBuffer();
        }
      }
    }
  });

  test("nonsense in every parameter of an authorization request, with a person signed in", async () => {
    const names = [
      ...[
        "client_id",
        "redirect_uri",
        "response_type",
        "response_mode",
        "scope",
        "state",
        "nonce",
        "prompt",
        "max_age",
        "acr_values",
      ],
      ...["login_hint", "id_token_hint", "ui_locales", "display", "claims", "orgIds", "resource", "request", "request_uri"],
      ...["code_challenge", "code_challenge_method", "claims_locales", "registration", "dpop_jkt", "authorization_details"],
    ];
    const { app, browser } = await prepare(world);
    for (const name of names) {
      for (const value of junk.map((each) => each.slice(0, 6_000))) {
        const response = await browser.fetch(world.authorizeUrl(app, { code_challenge_method: "S256", [name]: value }));
        expect(response.status, `${name}=${value.slice(0, 40)}`).toBeLessThan(500);
        await response.arrayBuffer();
      }
    }
  });
});
