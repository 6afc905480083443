import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

/** An app in a sandbox has no network, so this app uses only Node. The payloads are lost when the Space sleeps. */
const { WEBHOOK_SECRET: secret, PORT: port = "7860" } = process.env;
const BODY_MAX_BYTES = 8 * 1024 * 1024;
const AGE_MAX_SECONDS = 5 * 60;
const KEPT_MAX = 20;

const received = [];
const watching = new Set();

const server = createServer((request, response) => {
  answer(request, response).catch((error) => {
    console.error(error);
    response.writeHead(500, { "content-type": "text/plain" }).end("Something went wrong. Try again later.\n");
  });
});
// The app listens on the loopback interface of the Space's sandbox, which only the service can reach.
server.listen(Number(port), "127.0.0.1", () =>
  console.log(`waiting for webhooks${secret ? "" : " from anybody, since WEBHOOK_SECRET is not set"}`),
);

async function answer(request, response) {
  if (request.method === "POST") return receive(request, response);
  if (request.url === "/events") return watch(request, response);
  if (request.url !== "/") return response.writeHead(404, { "content-type": "text/plain" }).end("There is no such page.\n");
  response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(page());
}

async function receive(request, response) {
  const respond = (status, text) => response.writeHead(status, { "content-type": "text/plain" }).end(`${text}\n`);
  // The signature is of the bytes that arrived. JSON that was parsed and serialized again may differ.
  const body = await readBody(request);
  if (!body) return respond(413, "Too large.");
  const [id, timestamp] = [request.headers["webhook-id"] ?? "", request.headers["webhook-timestamp"] ?? ""];
  if (secret && !isSigned({ id, timestamp, body, signatures: request.headers["webhook-signature"] ?? "" }))
    return respond(401, "The signature is wrong.");
  if (secret && Math.abs(Date.now() / 1_000 - Number(timestamp)) > AGE_MAX_SECONDS)
    return respond(401, "The timestamp is too far from the current time.");
  // Delivery is at least once, so an event may arrive twice, with the same ID.
  if (received.some((each) => each.id === id)) return respond(200, "Received before.");
  let payload;
  try {
    payload = JSON.parse(body.toString());
  } catch {
    return respond(400, "This is not JSON.");
  }
  // The page shows these values, so they must be texts. Without a secret, anybody may send anything.
  const shown = [payload?.event?.scope, payload?.event?.action, payload?.repo?.name ?? ""];
  if (shown.some((text) => typeof text !== "string")) return respond(400, "This is not the payload of a webhook.");
  received.unshift({ id, at: new Date(), payload });
  received.length = Math.min(received.length, KEPT_MAX);
  console.log(`received ${shown.slice(0, 2).join(" ")} of ${shown[2]}`);
  for (const page of watching) page.write("event: received\ndata:\n\n");
  return respond(200, "Received.");
}

/** Standard Webhooks. During a rotation there are two signatures, of which one must match. */
function isSigned({ id, timestamp, body, signatures }) {
  const key = secret.startsWith("whsec_") ? Buffer.from(secret.slice("whsec_".length), "base64") : Buffer.from(secret);
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
  return signatures.split(" ").some((each) => {
    const given = each.startsWith("v1,") ? Buffer.from(each.slice("v1,".length), "base64") : Buffer.alloc(0);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

async function readBody(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > BODY_MAX_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function watch(request, response) {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  response.write(": hello\n\n");
  watching.add(response);
  request.on("close", () => watching.delete(response));
}

const escapeHtml = (text) => String(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

function page() {
  const rows = received.map(
    ({ at, payload }) => `<li><details><summary><b>${escapeHtml(payload.event?.scope)} · ${escapeHtml(payload.event?.action)}</b>
<span>${escapeHtml(payload.repo?.name)}</span><time>${at.toISOString().slice(11, 19)}</time></summary>
<pre>${escapeHtml(JSON.stringify(payload, null, 2))}</pre></details></li>`,
  );
  // Links are relative, because the Space is below /spaces/…/app/.
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Received webhooks</title>
<style>
:root{color-scheme:light dark}
body{font:15px/1.6 system-ui,sans-serif;max-width:46rem;margin:0 auto;padding:1.5rem 1rem}
h1{font-size:1.25rem;margin:0}p{margin:.25rem 0 1.25rem;opacity:.7}
ol{list-style:none;padding:0;margin:0;border-top:1px solid #8884}li{border-bottom:1px solid #8884}
summary{display:flex;gap:.25rem 1rem;flex-wrap:wrap;padding:.65rem 0;cursor:pointer}summary span{flex:1 1 12rem;overflow-wrap:anywhere}
time{opacity:.7;font-variant-numeric:tabular-nums}pre{overflow:auto;padding:.75rem;background:#8881;border-radius:8px;font-size:13px}
</style>
<h1>Received webhooks</h1>
<p>${received.length === 0 ? "Nothing yet. Change something that the webhook watches, or send a test." : `The last ${received.length === 1 ? "one" : received.length}, since this Space was started.`}</p>
<ol>${rows.join("\n")}</ol>
<script>new EventSource("events").addEventListener("received", () => location.reload())</script>
</html>
`;
}
