import { signWebhook, type WebhookPayload } from "@keyhook/sdk";
import type { Receiver } from "../create-receiver.ts";
import { type Answer, type IncomingRequest, json } from "../delivery/incoming-request.ts";
import type { RegisteredHandler } from "../delivery/registered-handler.ts";
import { fromRequest } from "../serve/node-handler.ts";
import { landingPage } from "./landing-page.ts";

export async function answerLanding(receiver: Receiver, incoming: IncomingRequest, path: string): Promise<Answer> {
  const { page } = receiver.options;
  if (path === "/" && (incoming.method === "GET" || incoming.method === "HEAD") && page !== false) {
    if (typeof page === "string") return html(page, {});
    if (page) return fromResponse(await page(incoming.asRequest()));
    const nonce = crypto.randomUUID();
    const isKnown = receiver.options.mayManage !== undefined || tokenIn(incoming) === receiver.pageToken;
    const manages = isKnown && (await mayManage(receiver, incoming));
    const text = landingPage(receiver, { incoming, nonce, formToken: manages ? receiver.pageToken : undefined });
    return html(text, {
      "content-security-policy": `default-src 'none'; style-src 'nonce-${nonce}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
    });
  }
  if (path === "/test" && incoming.method === "POST" && page === undefined) return answerTestButton(receiver, incoming);
  return path === "/" && page !== false
    ? json(405, { error: "This page supports only GET." }, { allow: "GET, HEAD" })
    : json(404, { error: "Not found." });
}

async function answerTestButton(receiver: Receiver, incoming: IncomingRequest): Promise<Answer> {
  const forbidden = json(403, { error: "Tests can only be sent from the receiver's own page, on its own machine (mayManage)." });
  if (!(await mayManage(receiver, incoming))) return forbidden;
  // Refuses forms that another site sends.
  const origin = incoming.header("origin");
  if (origin !== undefined && origin !== new URL(incoming.url).origin) return forbidden;
  if ((incoming.header("sec-fetch-site") ?? "same-origin") !== "same-origin") return forbidden;
  const form = new URLSearchParams(new TextDecoder().decode(await incoming.body({ maxBytes: 4_096, timeoutMs: 5_000 })));
  if (form.get("token") !== receiver.pageToken) return forbidden;
  const handler = receiver.handlers.get(form.get("handler") ?? "");
  if (!handler) return json(404, { error: "There is no handler with this name." });
  await sendTest(receiver, handler);
  return {
    status: 303,
    body: "",
    headers: {
      location: `${(receiver.options.basePath ?? "").replace(/(?<!\/)\/+$/, "")}/?token=${receiver.pageToken}#deliveries`,
    },
  };
}

const tokenIn = ({ url }: IncomingRequest): string | null => new URL(url).searchParams.get("token");

const html = (body: string, headers: Record<string, string>): Answer => ({
  status: 200,
  body,
  headers: {
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    ...headers,
  },
});

const fromResponse = async (response: Response): Promise<Answer> => ({
  status: response.status,
  body: await response.text(),
  headers: Object.fromEntries(response.headers),
});

const LOOPBACK_ADDRESS = /^(127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/;
const LOOPBACK_HOST = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
const PROXY_HEADERS = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via", "cf-connecting-ip"];

/** By default, only a user at this machine may. Proxies add headers to loopback connections, and DNS rebinding changes `Host`. */
async function mayManage({ options }: Receiver, incoming: IncomingRequest): Promise<boolean> {
  if (options.mayManage) return options.mayManage(incoming.asRequest());
  return (
    LOOPBACK_ADDRESS.test(incoming.remoteAddress ?? "") &&
    LOOPBACK_HOST.test(new URL(incoming.url).hostname) &&
    /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/.test(incoming.header("host") ?? "") &&
    PROXY_HEADERS.every((name) => incoming.header(name) === undefined)
  );
}

async function sendTest(receiver: Receiver, handler: RegisteredHandler): Promise<number> {
  const body = JSON.stringify(samplePayload());
  const id = `test_${crypto.randomUUID()}`;
  const [secret] = receiver.secrets;
  const headers: Record<string, string> = {
    "content-type": "application/json",
    "x-webhook-test": "true",
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(Date.now() / 1000)),
    ...(secret !== undefined && (await signWebhook({ id, body, secret }))),
  };
  const request = new Request(`http://localhost/webhooks/${handler.name}`, { method: "POST", headers, body });
  return (await receiver.receive(fromRequest(request), handler)).status;
}

const id = (end: string) => `66a0c0ffee00000000000${end}`;

export const samplePayload = (): WebhookPayload => ({
  event: { scope: "repo.content", action: "update" },
  repo: {
    type: "dataset",
    name: "ada/tide-tables",
    id: id("001"),
    private: false,
    url: { web: "https://hub.example.com/datasets/ada/tide-tables", api: "https://hub.example.com/api/datasets/ada/tide-tables" },
    owner: { id: id("002") },
    headSha: "9f31c0de5a4b7e6f8091a2b3c4d5e6f708192a3b",
    tags: ["tides"],
  },
  updatedRefs: [
    {
      ref: "refs/heads/main",
      oldSha: "1b7f44a09c3de25f6a8b0c1d2e3f405162738495",
      newSha: "9f31c0de5a4b7e6f8091a2b3c4d5e6f708192a3b",
    },
  ],
  webhook: { id: id("003"), version: 3 },
});
