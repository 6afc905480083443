import type { IncomingMessage, ServerResponse } from "node:http";
import type Provider from "oidc-provider";
import { isDatabaseDown } from "#core/db.ts";
import { log } from "#core/log.ts";
import { identifyClient } from "./client-authentication.ts";
import { guardAgainstGuessing } from "./failure-throttle.ts";
import { errorPage } from "./pages/error-page.ts";
import { ProtocolError, pinHost, preparedUrl, readForm, withForm } from "./protocol-request.ts";
import { currentProvider } from "./provider.ts";
import { withRequestRows } from "./request-rows.ts";

/** Endpoints where a client authenticates, and guesses are counted. */
const CLIENT_PATHS = new Set(["/oauth/token", "/oauth/introspect", "/oauth/revoke"]);
/** Endpoints that a person's browser visits: they get pages, not JSON. */
const PERSON_PATHS = /^\/oauth\/(authorize|logout)(\/|$)/;

type RequestListener = (req: IncomingMessage, res: ServerResponse) => unknown;
const listeners = new WeakMap<Provider, RequestListener>();

function listenerOf(provider: Provider): RequestListener {
  let listener = listeners.get(provider);
  if (!listener) {
    listener = provider.callback();
    listeners.set(provider, listener);
  }
  return listener;
}

/**
 * Door 3: OAuth 2.0 and OpenID Connect, for `server.ts` and for the Next API route alike.
 * @param clientAddress the address that rate limits go by, as the front door worked it out.
 */
export function handleOidc(req: IncomingMessage, res: ServerResponse, clientAddress: string): Promise<void> {
  return withRequestRows(() => answer(req, res, clientAddress));
}

async function answer(req: IncomingMessage, res: ServerResponse, clientAddress: string): Promise<void> {
  const path = (req.url ?? "/").split("?", 1)[0] ?? "/";
  try {
    pinHost(req.headers, clientAddress);
    req.url = preparedUrl(req.url ?? "/");
    let request = req;
    if (req.method === "POST") {
      const form = await readForm(req, path);
      if (CLIENT_PATHS.has(path)) {
        await identifyClient(path, req.headers, form);
        guardAgainstGuessing(res, clientAddress, form.get("client_id") ?? req.headers.authorization ?? "");
      }
      request = withForm(req, form);
    }
    await listenerOf(await currentProvider())(request, res);
  } catch (error) {
    answerError(req, res, path, error);
  }
}

function toProtocolError(error: unknown): ProtocolError {
  if (error instanceof ProtocolError) return error;
  if (isDatabaseDown(error)) {
    return new ProtocolError(503, "temporarily_unavailable", "the service cannot reach its database; try again", {
      "Retry-After": "2",
    });
  }
  log().error({ err: error }, "protocol request failed");
  return new ProtocolError(500, "server_error", "something went wrong on our side");
}

function answerError(req: IncomingMessage, res: ServerResponse, path: string, thrown: unknown): void {
  const error = toProtocolError(thrown);
  if (res.headersSent) {
    res.destroy();
    return;
  }
  const isPage = PERSON_PATHS.test(path);
  const body = isPage
    ? errorPage({ error: error.error, description: error.message })
    : JSON.stringify({ error: error.error, error_description: error.message });
  // What is left of an oversized body is not read: the connection ends with the answer.
  if (error.status === 413) res.setHeader("Connection", "close");
  res.writeHead(error.status, {
    "Content-Type": isPage ? "text/html; charset=utf-8" : "application/json; charset=utf-8",
    "Cache-Control": "no-store",
    ...(!isPage && { "Access-Control-Allow-Origin": req.headers.origin ?? "*" }),
    ...error.headers,
  });
  res.end(body);
}
