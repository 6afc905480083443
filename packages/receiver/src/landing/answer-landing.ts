import type { Receiver } from "../create-receiver.ts";
import { type Answer, type IncomingRequest, json } from "../delivery/incoming-request.ts";
import { landingPage } from "./landing-page.ts";
import { mayManage } from "./may-manage.ts";
import { sendTest } from "./send-test.ts";

/** In the form of each test button, anew in each process: another site can post a form to this address, and does not know it. */
const formToken = crypto.randomUUID();

/** `/` and the buttons on it. */
export async function answerLanding(receiver: Receiver, incoming: IncomingRequest, path: string): Promise<Answer> {
  const { page } = receiver.options;
  if (path === "/" && (incoming.method === "GET" || incoming.method === "HEAD") && page !== false) {
    if (typeof page === "string") return html(page, {});
    if (page) return fromResponse(await page(incoming.asRequest()));
    const nonce = crypto.randomUUID();
    const manages = await mayManage(receiver, incoming);
    const text = landingPage(receiver, { incoming, nonce, formToken: manages ? formToken : undefined });
    return html(text, {
      "content-security-policy": `default-src 'none'; style-src 'nonce-${nonce}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
    });
  }
  if (path === "/test" && incoming.method === "POST" && page === undefined) return pressed(receiver, incoming);
  return path === "/" && page !== false
    ? json(405, { error: "This is a page to look at." }, { allow: "GET, HEAD" })
    : json(404, { error: "Not found." });
}

async function pressed(receiver: Receiver, incoming: IncomingRequest): Promise<Answer> {
  const forbidden = json(403, { error: "Tests are sent from the receiver's own page, on its own machine (mayManage)." });
  if (!(await mayManage(receiver, incoming))) return forbidden;
  // Of another site's form, with or without what the page knows.
  const origin = incoming.header("origin");
  if (origin !== undefined && origin !== new URL(incoming.url).origin) return forbidden;
  if ((incoming.header("sec-fetch-site") ?? "same-origin") !== "same-origin") return forbidden;
  const form = new URLSearchParams(new TextDecoder().decode(await incoming.body({ maxBytes: 4_096, timeoutMs: 5_000 })));
  if (form.get("token") !== formToken) return forbidden;
  const handler = receiver.handlers.get(form.get("handler") ?? "");
  if (!handler) return json(404, { error: "There is no such handler." });
  await sendTest(receiver, handler);
  return {
    status: 303,
    body: "",
    headers: { location: `${(receiver.options.basePath ?? "").replace(/(?<!\/)\/+$/, "")}/#deliveries` },
  };
}

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
