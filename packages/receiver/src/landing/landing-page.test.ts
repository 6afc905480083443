import { connect } from "node:net";
import { afterEach, expect, it } from "vitest";
import { createReceiver, type Receiver, type ReceiverOptions } from "../index.ts";

const SECRET = `whsec_${Buffer.alloc(24, 3).toString("base64")}`;
const open: Receiver[] = [];
afterEach(async () => {
  for (const receiver of open.splice(0)) await receiver.close();
});

async function start(options: ReceiverOptions = {}) {
  const tests: boolean[] = [];
  const receiver = createReceiver({ secret: SECRET, ...options }).on("onPush", (_, { isTest }) => void tests.push(isTest));
  open.push(receiver);
  const { url } = await receiver.launch({ port: 0, handleSignals: false, print: () => undefined });
  const page = async (headers: Record<string, string> = {}) =>
    (await fetch(`${url}/?token=${receiver.pageToken}`, { headers })).text();
  const token = (text: string) => /name="token" value="([^"]+)"/.exec(text)?.[1];
  const press = async (given: string | undefined, headers: Record<string, string> = {}) =>
    fetch(`${url}/test`, {
      method: "POST",
      headers,
      body: new URLSearchParams({ token: given ?? "", handler: "onPush" }),
      redirect: "manual",
    });
  return { receiver, url, tests, page, token, press };
}

it("the page lists handlers, sends a signed test, and shows its delivery", async () => {
  const { receiver, url, tests, page, token, press } = await start();
  const before = await page();
  expect(before).toContain(`${url}/webhooks/onPush`);
  expect(before).toContain("No delivery has arrived yet");
  const pressed = await press(token(before), { origin: url, "sec-fetch-site": "same-origin" });
  expect([pressed.status, pressed.headers.get("location"), tests]).toEqual([
    303,
    `/?token=${receiver.pageToken}#deliveries`,
    [true],
  ]);
  const after = await page();
  expect(after).toContain("repo.content · update");
  expect(after).toContain("dataset ada/tide-tables → onPush");
  expect(after).not.toContain(SECRET);
});

it("the page shows strangers only the handlers' URLs, and only a local user can send tests", async () => {
  const { receiver, url, tests, page, token, press } = await start();
  const path = `/?token=${receiver.pageToken}`;
  const known = token(await page());
  const { port } = new URL(url);
  const proxied: Record<string, string>[] = [
    { "x-forwarded-for": "203.0.113.9" },
    { forwarded: "for=203.0.113.9" },
    { via: "1.1 tunnel" },
  ];
  for (const headers of proxied) {
    const text = await page(headers);
    expect(text).toContain("/webhooks/onPush");
    expect(text).not.toMatch(/Recent deliveries|name="token"/);
    expect((await press(known, headers)).status).toBe(403);
  }
  const { request } = await import("node:http");
  const rebound = await new Promise<string>((resolve) => {
    request({ port, path, host: "127.0.0.1", headers: { host: `evil.example:${port}` } }, (response) => {
      let text = "";
      response.on("data", (data) => (text += data)).on("end", () => resolve(text));
    }).end();
  });
  expect(rebound).toContain("Webhook receiver");
  expect(rebound).not.toMatch(/Recent deliveries|name="token"/);
  // A request as nginx before 1.29.7 sends it by default: with its own Host, and without the visitor's address.
  const nginx = await new Promise<string>((resolve) => {
    let text = "";
    const socket = connect(Number(port), "127.0.0.1", () =>
      socket.write(`GET ${path} HTTP/1.0\r\nHost: 127.0.0.1:${port}\r\n\r\n`),
    );
    socket.on("data", (data) => (text += data)).on("end", () => resolve(text));
  });
  expect(nginx).toContain("Webhook receiver");
  expect(nginx).not.toMatch(/Recent deliveries|name="token"/);
  // Nginx 1.30 sends what the browser of a local user sends. Only the local user knows the printed URL, which has the token.
  const newer = await (await fetch(`${url}/`)).text();
  expect(newer).toContain("Webhook receiver");
  expect(newer).not.toMatch(/Recent deliveries|name="token"/);
  expect((await press(known, { origin: "https://evil.example" })).status).toBe(403);
  expect((await press(known, { origin: "null" })).status).toBe(403);
  expect((await press(known, { "sec-fetch-site": "cross-site" })).status).toBe(403);
  expect((await press("guessed")).status).toBe(403);
  expect(tests).toEqual([]);
});

it("the page escapes received values, and contains no scripts or external resources", async () => {
  const { receiver, url, page } = await start({ secret: [] });
  const body = JSON.stringify({
    event: { scope: "<script>alert(1)</script>", action: '"><img src=x>' },
    repo: { type: "model", name: "<b>'x'" },
  });
  await fetch(`${url}/webhooks/onPush`, { method: "POST", headers: { "content-type": "application/json" }, body });
  const text = await page();
  expect(text).toContain("&lt;script&gt;alert(1)&lt;/script&gt; · &quot;&gt;&lt;img src=x&gt;");
  expect(text).not.toMatch(/<script|<img|<link|url\(/);
  expect(receiver.recent.list()).toHaveLength(1);
  const { headers } = await fetch(`${url}/`);
  expect(headers.get("content-security-policy")).toMatch(
    /^default-src 'none'; style-src 'nonce-[\w-]+'; form-action 'self'; base-uri 'none'; frame/,
  );
});

it("the page can be replaced by a custom one, or by none", async () => {
  const own = await start({ page: "<h1>Ours</h1>" });
  expect(await own.page()).toBe("<h1>Ours</h1>");
  expect((await own.press("x")).status).toBe(404);
  const made = await start({ page: (request) => new Response(new URL(request.url).pathname, { status: 201 }) });
  expect(await made.page()).toBe("/");
  const none = await start({ page: false });
  expect((await fetch(`${none.url}/`)).status).toBe(404);
});
