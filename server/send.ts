import type { IncomingMessage, ServerResponse } from "node:http";
import type { Failure } from "#core/log.ts";
import { pageHeaders } from "#core/oauth/pages/layout.ts";
import { failurePage, type TypedField } from "./failure-page.ts";

export const RETRY_AFTER_SECONDS = 2;

export const databaseAway: Failure = { status: 503, error: "unavailable", description: "The service cannot reach its database" };

export function sendJson(res: ServerResponse, status: number, body: unknown): void {
  res.writeHead(status, { "Content-Type": "application/json; charset=utf-8", "Cache-Control": "no-store" });
  res.end(JSON.stringify(body));
}

export function sendFailure(req: IncomingMessage, res: ServerResponse, failure: Failure, typed: TypedField[] = []): void {
  const { status, error, description } = failure;
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
  res.writeHead(status, { ...pageHeaders, "Content-Type": "text/html; charset=utf-8" });
  res.end(failurePage(req, failure, typed));
}

const DISCARD_MS = 5_000;

/** A client reads the response only after it has sent its request, so it would miss the response if the connection closed before. */
export function discardRest(req: IncomingMessage): void {
  if (req.complete) return;
  req.resume();
  setTimeout(() => req.complete || req.socket.destroy(), DISCARD_MS).unref();
}
