import type { IncomingMessage, ServerResponse } from "node:http";
import { env } from "#core/env.ts";

export const RETRY_AFTER_SECONDS = 2;

export type Failure = { status: number; error: string; description: string };

export const databaseAway: Failure = { status: 503, error: "unavailable", description: "The service cannot reach its database" };

export function sendJson(res: ServerResponse, status: number, body: unknown): void {
  res.writeHead(status, { "Content-Type": "application/json; charset=utf-8", "Cache-Control": "no-store" });
  res.end(JSON.stringify(body));
}

/** A failure that no door can answer, in the form the client reads: JSON, or a page for people. */
export function sendFailure(req: IncomingMessage, res: ServerResponse, { status, error, description }: Failure): void {
  if (res.headersSent) {
    res.destroy();
    return;
  }
  if (status === 503) res.setHeader("Retry-After", RETRY_AFTER_SECONDS);
  discardRest(req);
  if (!req.headers.accept?.includes("text/html")) {
    sendJson(res, status, { error, error_description: description });
    return;
  }
  res.writeHead(status, { "Content-Type": "text/html; charset=utf-8" });
  res.end(page(status, description));
}

const DISCARD_MS = 5_000;

/**
 * Takes what is left of a body that nobody wants, for a moment: who is still sending reads the answer only afterwards, and finds
 * none if the connection was closed under their hands.
 */
function discardRest(req: IncomingMessage): void {
  if (req.complete) return;
  req.resume();
  setTimeout(() => req.complete || req.socket.destroy(), DISCARD_MS).unref();
}

/** Without Next, whose pages need the database: it must be there when nothing else is. */
function page(status: number, description: string): string {
  const { BRAND_NAME } = env();
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(description)} · ${escapeHtml(BRAND_NAME)}</title>
<style>
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; display: grid; place-content: center; min-height: 100vh; margin: 0; padding: 0 1.5rem; }
main { max-width: 26rem; }
h1 { font-size: 1.25rem; font-weight: 600; margin: 0 0 .5rem; }
p { margin: 0; }
</style>
</head>
<body><main><h1>${escapeHtml(description)}</h1><p>${escapeHtml(BRAND_NAME)} answered with status ${status}.${
    status === 503 ? " Try again in a few seconds." : ""
  }</p></main></body>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (symbol) => `&#${symbol.charCodeAt(0)};`);
}
