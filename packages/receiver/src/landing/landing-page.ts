import type { Receiver } from "../create-receiver.ts";
import type { RecentDelivery } from "../delivery/delivery-store.ts";
import type { IncomingRequest } from "../delivery/incoming-request.ts";
import { webhookSettingsUrl } from "../serve/launch.ts";

const CHARACTERS: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
export const escapeHtml = (text: unknown): string => String(text).replace(/[&<>"']/g, (character) => CHARACTERS[character] ?? "");

/** @param formToken absent for strangers, who see the handlers' URLs but no deliveries */
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
<p>${names.length === 0 ? "The receiver is running, but has no handler yet." : `The receiver is running with ${names.length === 1 ? "one handler" : `${names.length} handlers`}.`}</p>
</header>
${isOpen ? `<div class="notice" role="note"><b>Anybody who finds these URLs can send requests to them.</b> Set <code>WEBHOOK_SECRET</code> to the webhook’s secret and start again.</div>` : ""}
<section aria-labelledby="handlers">
<h2 id="handlers">Handlers</h2>
${names.length === 0 ? `<div class="card empty"><p>Register one in your program:</p><pre>${escapeHtml("webhook(async function onPush(payload) {\n  console.log(payload.repo.name);\n});")}</pre></div>` : `<ul class="card rows">${names.map((name) => handlerRow(name, base, formToken)).join("")}</ul>`}
</section>
${formToken === undefined ? "" : deliveries(receiver.recent.list(), formToken)}
<section aria-labelledby="steps">
<h2 id="steps">Connect it</h2>
<ol class="card steps">
<li>Create a webhook in the service${settings ? `, under <a href="${escapeHtml(settings)}" rel="noreferrer">Settings, Webhooks</a>` : " under Settings, Webhooks"}, and enter a handler’s URL.</li>
<li>Use the same secret in both places: as the webhook’s secret, and here as <code>WEBHOOK_SECRET</code>.</li>
<li>Choose “Send a test” on the webhook’s page. The delivery appears here.</li>
</ol>
<p class="fine">If the service cannot reach this machine, start with <code>launch({ relay: true })</code>, which gives the receiver a public URL at the service.</p>
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

function deliveries(recent: readonly RecentDelivery[], formToken: string): string {
  const rows =
    recent.length === 0
      ? `<div class="card empty"><p>No delivery has arrived yet. Send a test, or change something that a webhook watches.</p></div>`
      : `<ol class="card rows">${recent.map(deliveryRow).join("")}</ol>`;
  return `<section aria-labelledby="deliveries">
<h2 id="deliveries">Recent deliveries</h2>
${rows}
${recent.length === 0 ? "" : `<p class="fine">Times are UTC. The list is kept in memory and covers the time since the receiver started. <a href="./?token=${escapeHtml(formToken)}">Reload</a></p>`}
</section>`;
}

function deliveryRow({ at, handler, event, repo, status, durationMs, isTest, isRepeated }: RecentDelivery): string {
  const tone = status < 300 ? "good" : status === 503 ? "warn" : "bad";
  const notes = [isTest && "test", isRepeated && "repeated"].filter(Boolean).map((note) => `<span class="note">${note}</span>`);
  return `<li class="delivery"><span class="chip ${tone}">${status}</span><div><b>${escapeHtml(event ?? "Refused")}</b>${notes.join("")}<span class="sub">${escapeHtml(repo ? `${repo} → ${handler}` : handler)}</span></div><div class="when"><time datetime="${at.toISOString()}">${at.toISOString().slice(11, 19)}</time><span class="sub">${duration(durationMs)}</span></div></li>`;
}

const duration = (ms: number) => (ms < 1 ? "< 1 ms" : ms < 10_000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);

/** The page loads no resources, so the fonts are the system's. */
const style = `
:root{color-scheme:light dark;--canvas:light-dark(#f7f6f3,#131211);--surface:light-dark(#fff,#1c1a18);--sunken:light-dark(#f3f1ec,#232120);--line:light-dark(#e4e1da,#34312e);--edge:light-dark(#8a837a,#7b746c);--ink:light-dark(#1c1917,#f3f1ee);--muted:light-dark(#6b645c,#a8a29a);--brand:light-dark(#a8600a,#e0a458);--good:light-dark(#15703f,#6fcf97);--good-soft:light-dark(#e3f3e9,#17301f);--warn:light-dark(#8f5400,#e9b44c);--warn-soft:light-dark(#fbefd9,#33270f);--bad:light-dark(#b3261e,#f28b82);--bad-soft:light-dark(#fbe7e5,#391c1a);--mono:ui-monospace,"SF Mono","JetBrains Mono",Menlo,Consolas,monospace}
*{box-sizing:border-box;margin:0}
body{background:var(--canvas);color:var(--ink);font:15px/1.6 Inter,ui-sans-serif,system-ui,sans-serif;-webkit-font-smoothing:antialiased}
main{max-width:46rem;margin:0 auto;padding:clamp(1.5rem,5vw,3.5rem) 1rem 4rem}
header{display:flex;flex-wrap:wrap;align-items:center;gap:.25rem .75rem}
header p{flex-basis:100%;color:var(--muted)}
h1{font-size:22px;line-height:28px;font-weight:600;letter-spacing:-.01em}
h2{font-size:15px;font-weight:600;margin:2rem 0 .5rem}
b{font-weight:500}
code,pre,.method,time,.when .sub{font-family:var(--mono);font-size:13px}
.card{background:var(--surface);border:1px solid var(--line);border-radius:14px;padding:0;list-style:none;overflow:hidden}
.rows>li{display:flex;gap:.5rem 1rem;align-items:center;padding:.7rem 1rem}
.rows>li+li{border-top:1px solid var(--line)}
.rows>li>div:not(.when){flex:1 1 0;min-width:0;line-height:1.4}
.handler{flex-wrap:wrap}
.rows>.handler>div:not(.when){flex:1 1 17rem}
.url{display:block;color:var(--muted);overflow-wrap:anywhere;user-select:all}
.method{color:var(--brand);user-select:none}
.sub{display:block;color:var(--muted);font-size:13.5px;overflow-wrap:anywhere}
.note{margin-left:.5rem;color:var(--muted);font-size:12.5px}
.when{text-align:right;line-height:1.4;white-space:nowrap}
time{color:var(--muted)}
.chip{display:inline-flex;align-items:center;height:24px;padding:0 .625rem;border-radius:99px;font-size:12.5px;font-weight:500;white-space:nowrap}
.delivery .chip{min-width:3.25rem;justify-content:center}
.good{background:var(--good-soft);color:var(--good)}.warn{background:var(--warn-soft);color:var(--warn)}.bad{background:var(--bad-soft);color:var(--bad)}
.notice{margin-top:1rem;padding:.7rem 1rem;border-radius:14px;background:var(--warn-soft);color:var(--warn)}
.notice code{font-size:inherit}
button{font:inherit;font-size:14px;font-weight:500;height:36px;padding:0 .875rem;border:1px solid var(--edge);border-radius:9px;background:var(--surface);color:inherit;cursor:pointer}
button:hover{background:var(--sunken)}
:focus-visible{outline:2px solid var(--brand);outline-offset:2px}
a{color:inherit;text-decoration:underline;text-decoration-color:var(--edge);text-underline-offset:4px}
a:hover{text-decoration-color:currentColor}
.empty{padding:1rem;color:var(--muted)}
pre{margin-top:.5rem;padding:.75rem;border-radius:9px;background:var(--sunken);color:var(--ink);overflow-x:auto}
.steps{counter-reset:step}
.steps li{counter-increment:step;display:block;position:relative;padding:.7rem 1rem .7rem 3.25rem}
.steps li+li{border-top:1px solid var(--line)}
.steps li::before{content:counter(step);position:absolute;left:1rem;top:.72rem;width:1.5rem;height:1.5rem;border-radius:99px;background:var(--sunken);color:var(--muted);font-size:12.5px;line-height:1.5rem;text-align:center}
.fine{margin-top:.5rem;color:var(--muted);font-size:13.5px}
`.replaceAll("\n", "");
