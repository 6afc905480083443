import { hash } from "node:crypto";
import { env } from "#core/env.ts";
import { requestContext } from "#core/log.ts";

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const STYLE = `
:root{color-scheme:light dark;--canvas:light-dark(#f7f6f3,#131211);--surface:light-dark(#fff,#1c1a18);
--line:light-dark(#e4e1da,#34312e);--ink:light-dark(#1c1917,#f3f1ee);--muted:light-dark(#6b645c,#a8a29a);
--brand:light-dark(#a8600a,#e0a458);--on-action:light-dark(#fff,#1c1917);--sunken:light-dark(#f3f1ec,#232120)}
:root[data-theme=light]{color-scheme:light}:root[data-theme=dark]{color-scheme:dark}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:2rem 1rem;background:var(--canvas);color:var(--ink);
font:15px/1.6 "Inter Variable",ui-sans-serif,system-ui,sans-serif}
main{width:100%;max-width:25rem;background:var(--surface);border:1px solid var(--line);border-radius:14px;padding:1.75rem 1.5rem;
box-shadow:0 1px 2px rgb(28 25 23/.06),0 24px 60px -12px rgb(28 25 23/.22)}
.brand{display:flex;align-items:center;gap:.5rem;margin-bottom:1.25rem;font-weight:600;text-decoration:none}
.brand svg{width:20px;height:20px;color:var(--brand)}
h1{font-size:22px;line-height:28px;font-weight:600;letter-spacing:-.01em;margin:0 0 .5rem;text-wrap:balance}
h2{font-size:15px;line-height:24px;font-weight:600;margin:1.25rem 0 0}
main:has(dl,pre){max-width:30rem}
p{margin:.5rem 0;color:var(--muted);text-wrap:pretty}.muted{color:var(--muted);font-size:13.5px}
code{font:13px/1.5 "JetBrains Mono Variable",ui-monospace,monospace;overflow-wrap:anywhere}
pre{background:var(--sunken);border-radius:9px;padding:.75rem;margin:1rem 0 0;white-space:pre-wrap;overflow-wrap:anywhere}
form{display:grid;grid-template-columns:1fr 1fr;gap:.75rem;margin-top:1.25rem}
button,.button{font:inherit;font-weight:500;min-height:2.5rem;border-radius:9px;border:1px solid var(--line);background:var(--surface);
color:var(--ink);cursor:pointer;display:grid;place-items:center;text-decoration:none}
.primary{background:var(--ink);color:var(--on-action);border-color:var(--ink)}
.actions{display:flex;flex-wrap:wrap;gap:.75rem;margin:1.25rem 0}.actions .button{padding:0 1.25rem}
dl{margin:.75rem 0 0}dt{color:var(--muted);font-size:13.5px}
dd{margin:0 0 .75rem;white-space:pre-wrap;overflow-wrap:anywhere}
a{color:inherit;text-underline-offset:4px}
main>:last-child{margin-bottom:0}
:focus-visible{outline:2px solid var(--brand);outline-offset:2px}
@media (max-width:22rem){form{grid-template-columns:1fr}form .primary{order:-1}}`;

/** S23. The engine adds the hash of its script, which submits a form to the app (`response_mode=form_post`). */
export const pageHeaders = {
  "Content-Security-Policy": `default-src 'none'; script-src; style-src 'sha256-${hash("sha256", STYLE, "base64")}'; base-uri 'none'; frame-ancestors 'none'`,
  "X-Frame-Options": "DENY",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cache-Control": "no-store",
} as const;

/** Also in app/_components/brand-mark.tsx. */
const MARK =
  '<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><circle cx="14.25" cy="6" r="3.5"/><path d="M14.25 9.5v8a4 4 0 0 1-8 0v-2.25l-1.75 1.75"/><path d="M14.25 13.25h3.5"/></svg>';

/**
 * The page has no script, so it works when nothing else does.
 * @param body trusted HTML, in which text from outside was escaped with `escapeHtml`
 */
export function htmlPage(title: string, body: string): string {
  const { BRAND_NAME, ORIGIN } = env();
  const theme = requestContext.getStore()?.theme;
  return `<!doctype html>
<html lang="en"${theme ? ` data-theme="${theme}"` : ""}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)} · ${escapeHtml(BRAND_NAME)}</title>
<style>${STYLE}</style>
</head>
<body><main><a class="brand" target="_top" href="${escapeHtml(ORIGIN)}/">${MARK}${escapeHtml(BRAND_NAME)}</a>${body}</main></body>
</html>`;
}
