import type { Receiver } from "../create-receiver.ts";
import type { IncomingRequest } from "../delivery/incoming-request.ts";
import type { RecentDelivery } from "../recent-deliveries.ts";
import { webhookSettingsUrl } from "../serve/announce.ts";
import { style } from "./style.ts";

const CHARACTERS: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
export const escapeHtml = (text: unknown): string => String(text).replace(/[&<>"']/g, (character) => CHARACTERS[character] ?? "");

/** @param formToken absent for strangers, who see where to send to and nothing of what was sent */
export function landingPage(
  receiver: Receiver,
  { incoming, nonce, formToken }: { incoming: IncomingRequest; nonce: string; formToken: string | undefined },
): string {
  const base = `${new URL(incoming.url).origin}${(receiver.options.basePath ?? "").replace(/(?<!\/)\/+$/, "")}`;
  const names = [...receiver.handlers.keys()];
  const isOpen = receiver.secrets.length === 0;
  const settings = webhookSettingsUrl(receiver);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Webhook receiver</title>
<style nonce="${nonce}">${style}</style>
</head>
<body>
<main>
<header>
<h1>Webhook receiver</h1>
<span class="chip ${isOpen ? "warn" : "good"}">${isOpen ? "Open to everyone" : "Secret is set"}</span>
<p>${names.length === 0 ? "It runs, and has no handler yet." : `It runs, with ${names.length === 1 ? "one handler" : `${names.length} handlers`}.`}</p>
</header>
${isOpen ? `<div class="notice" role="note"><b>Anyone who finds these addresses can send to them.</b> Set <code>WEBHOOK_SECRET</code> to the webhook’s secret and start again.</div>` : ""}
<section aria-labelledby="handlers">
<h2 id="handlers">Handlers</h2>
${names.length === 0 ? `<div class="card empty"><p>Register one in your program:</p><pre>${escapeHtml("webhook(async function onPush(payload) {\n  console.log(payload.repo.name);\n});")}</pre></div>` : `<ul class="card rows">${names.map((name) => handlerRow(name, base, formToken)).join("")}</ul>`}
</section>
${formToken === undefined ? "" : deliveries(receiver.recent.list())}
<section aria-labelledby="steps">
<h2 id="steps">Connect it</h2>
<ol class="card steps">
<li>Make a webhook in the service${settings ? `, under <a href="${escapeHtml(settings)}" rel="noreferrer">Settings, Webhooks</a>` : " under Settings, Webhooks"}, and enter a handler’s address.</li>
<li>Give both the same secret: there as the webhook’s, here as <code>WEBHOOK_SECRET</code>.</li>
<li>Press “Send a test” on the webhook’s page, and look here.</li>
</ol>
<p class="fine">Is this machine not reachable from the service? Start with <code>launch({ relay: true })</code>, which gives it a public address there.</p>
</section>
</main>
</body>
</html>
`;
}

function handlerRow(name: string, base: string, formToken: string | undefined): string {
  const button =
    formToken === undefined
      ? ""
      : `<form method="post" action="test"><input type="hidden" name="token" value="${escapeHtml(formToken)}"><input type="hidden" name="handler" value="${escapeHtml(name)}"><button aria-label="Send a test to ${escapeHtml(name)}">Send a test</button></form>`;
  return `<li class="handler"><div><b>${escapeHtml(name)}</b><code class="url"><span class="method">POST</span> ${escapeHtml(`${base}/webhooks/${name}`)}</code></div>${button}</li>`;
}

function deliveries(recent: readonly RecentDelivery[]): string {
  const rows =
    recent.length === 0
      ? `<div class="card empty"><p>Nothing came since the start. Send a test, or change something that a webhook watches.</p></div>`
      : `<ol class="card rows">${recent.map(deliveryRow).join("")}</ol>`;
  return `<section aria-labelledby="deliveries">
<h2 id="deliveries">Last deliveries</h2>
${rows}
${recent.length === 0 ? "" : `<p class="fine">Times are UTC, kept in memory since the start. <a href="./">Look again</a></p>`}
</section>`;
}

function deliveryRow({ at, handler, event, repo, status, durationMs, isTest, isRepeated }: RecentDelivery): string {
  const tone = status < 300 ? "good" : status === 503 ? "warn" : "bad";
  const notes = [isTest && "test", isRepeated && "here before"]
    .filter(Boolean)
    .map((note) => `<span class="note">${note}</span>`);
  return `<li class="delivery"><span class="chip ${tone}">${status}</span><div><b>${escapeHtml(event ?? "Refused")}</b>${notes.join("")}<span class="sub">${escapeHtml(repo ? `${repo} → ${handler}` : handler)}</span></div><div class="when"><time datetime="${at.toISOString()}">${at.toISOString().slice(11, 19)}</time><span class="sub">${duration(durationMs)}</span></div></li>`;
}

const duration = (ms: number) => (ms < 1 ? "< 1 ms" : ms < 10_000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);
