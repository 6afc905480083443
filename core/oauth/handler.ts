import type { IncomingMessage, ServerResponse } from "node:http";
import type Provider from "oidc-provider";
import { isDatabaseDown } from "#core/database-errors.ts";
import { log } from "#core/log.ts";
import { withRequestRows } from "./artifacts/request-rows.ts";
import { identifyClient } from "./clients/client-authentication.ts";
import { answerPendingPoll, refusePollFlood } from "./device/poll-device-code.ts";
import { prepareClient } from "./documents/prepare-client.ts";
import { takeFailure } from "./engine-events.ts";
import { guardAgainstGuessing } from "./failure-throttle.ts";
import { errorPage } from "./pages/error-page.ts";
import { pageHeaders } from "./pages/layout.ts";
import {
  asGet,
  checkLength,
  checkMethod,
  ProtocolError,
  pinHost,
  preparedUrl,
  printable,
  readForm,
  withForm,
} from "./protocol-request.ts";
import {
  acceptsGetAndPost,
  isClientEndpoint,
  isPersonEndpoint,
  isSignOutEndpoint,
  methodsOf,
  protocolRoutes,
  REGISTRATION,
  RESOURCE_METADATA,
} from "./protocol-routes.ts";
import { currentProvider } from "./provider.ts";
import { answerCiExchange, isCiExchange } from "./publishers/answer-ci-exchange.ts";
import { handleRegistration } from "./registration/handle-registration.ts";
import { resourceMetadata } from "./resources/resource-servers.ts";
import { KEYS_CACHED_SECONDS } from "./signing-keys.ts";

export function handleOidc(req: IncomingMessage, res: ServerResponse, clientAddress: string): Promise<void> {
  return withRequestRows(() => answer(req, res, clientAddress));
}

async function answer(req: IncomingMessage, res: ServerResponse, clientAddress: string): Promise<void> {
  const path = (req.url ?? "/").split("?", 1)[0] ?? "/";
  try {
    checkMethod(req.method, path);
    if (path === protocolRoutes.device_authorization && (req.method === "GET" || req.method === "HEAD")) {
      res
        .writeHead(303, { Location: req.url?.replace(path, protocolRoutes.code_verification), "Cache-Control": "no-store" })
        .end();
      return;
    }
    checkLength(req);
    pinHost(req.headers, clientAddress);
    req.url = preparedUrl(req.url ?? "/");
    const own = findOwnEndpoint(path);
    if (own) return await own(req, res, clientAddress);
    let request = req;
    if (req.method === "POST") {
      const form = await readForm(req, path);
      if (path === protocolRoutes.token && isCiExchange(req, form)) return await answerCiExchange(req, res, form, clientAddress);
      if (isClientEndpoint(path)) {
        const clientId = await identifyClient(req, res, path, form);
        guardAgainstGuessing(res, clientAddress, clientId);
        if (path === protocolRoutes.token) refusePollFlood(form);
        await prepareClient(path, clientId, clientAddress);
        if (path === protocolRoutes.token) await answerPendingPoll(req.headers, form, clientId);
      }
      request = acceptsGetAndPost(path) ? asGet(req, path, form) : withForm(req, form);
    }
    if (path === protocolRoutes.authorization) await prepareClient(path, clientIdIn(request.url), clientAddress);
    await listenerOf(await currentProvider())(request, res);
    const failure = takeFailure(res);
    if (failure !== undefined) throw failure;
  } catch (error) {
    answerError(res, path, error);
  }
}

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

function clientIdIn(url = ""): string | null {
  const query = url.includes("?") ? url.slice(url.indexOf("?")) : "";
  const [clientId = null, ...more] = new URLSearchParams(query).getAll("client_id");
  return more.length === 0 ? clientId : null;
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

function answerError(res: ServerResponse, path: string, thrown: unknown): void {
  const error = toProtocolError(thrown);
  if (res.headersSent) {
    res.destroy();
    return;
  }
  const isPage = isPersonEndpoint(path);
  const body = isPage
    ? errorPage({ error: error.error, description: error.message, isSignOut: isSignOutEndpoint(path) })
    : JSON.stringify({ error: error.error, error_description: printable(error.message) });
  // The rest of an oversized body stays unread, so the connection cannot be used again.
  if (error.status === 413) res.setHeader("Connection", "close");
  res.writeHead(error.status, {
    "Content-Type": isPage ? "text/html; charset=utf-8" : "application/json; charset=utf-8",
    "Cache-Control": "no-store",
    ...(isPage && pageHeaders),
    // S53: a response to a program contains nothing that depends on cookies.
    ...(!isPage && {
      "Access-Control-Allow-Origin": "*",
      "Access-Control-Expose-Headers": "WWW-Authenticate, Retry-After, X-Request-Id",
    }),
    ...error.headers,
  });
  res.end(body);
}

type OwnEndpoint = (req: IncomingMessage, res: ServerResponse, clientAddress: string) => Promise<void> | void;

function findOwnEndpoint(path: string): OwnEndpoint | undefined {
  if (path === RESOURCE_METADATA) return openToPages(path, answerResourceMetadata);
  if (path === REGISTRATION || path.startsWith(`${REGISTRATION}/`)) return openToPages(path, handleRegistration);
  return undefined;
}

const PREFLIGHT_SECONDS = 3600;

function openToPages(path: string, endpoint: OwnEndpoint): OwnEndpoint {
  return (req, res, clientAddress) => {
    res.setHeader("Access-Control-Allow-Origin", "*");
    if (req.method !== "OPTIONS") {
      res.setHeader("Access-Control-Expose-Headers", "WWW-Authenticate, Retry-After, X-Request-Id");
      return endpoint(req, res, clientAddress);
    }
    const headers = {
      "Access-Control-Allow-Methods": methodsOf(path)?.join(", "),
      "Access-Control-Allow-Headers": "Authorization, Content-Type, MCP-Protocol-Version",
      "Access-Control-Max-Age": PREFLIGHT_SECONDS,
    };
    res.writeHead(204, headers).end();
  };
}

const answerResourceMetadata: OwnEndpoint = (_req, res) => {
  res.setHeader("Cache-Control", `public, max-age=${KEYS_CACHED_SECONDS}`);
  res.writeHead(200, { "Content-Type": "application/json; charset=utf-8" }).end(JSON.stringify(resourceMetadata()));
};
