import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type Provider from "oidc-provider";
import type { errors, KoaContextWithOIDC } from "oidc-provider";
import { isDatabaseDown } from "#core/database-errors.ts";
import { env } from "#core/env.ts";
import { log } from "#core/log.ts";
import { countAuthorization, countToken } from "./apps/count-usage.ts";
import { challengeFor, failedAuthentication } from "./clients/client-authentication.ts";
import { describeDeviceAuthorization } from "./device/issue-device-code.ts";
import { areDocumentsAccepted } from "./documents/hosts/document-policy.ts";
import { NOT_BOUND } from "./exchange/exchange-token.ts";
import { countFailure, rememberSuccess } from "./failure-throttle.ts";
import { DEVICE_CODE_GRANT, TOKEN_EXCHANGE_GRANT } from "./grant-types.ts";
import { askBeforeLogout, endSiteSessionWithLogout } from "./logout/logout.ts";
import { errorPage } from "./pages/error-page.ts";
import { pageHeaders } from "./pages/layout.ts";
import { printable } from "./protocol-request.ts";
import {
  isClientEndpoint,
  isMetadata,
  isPersonEndpoint,
  isPublicDocument,
  protocolRoutes,
  REGISTRATION,
} from "./protocol-routes.ts";
import { isRegistrationOn } from "./registration/registration-policy.ts";
import { KEYS_CACHED_SECONDS } from "./signing-keys.ts";

export function watchEngine(provider: Provider): void {
  provider.on("server_error", (ctx, error) => {
    ctx.state.isDatabaseDown = isDatabaseDown(error);
    if (!ctx.state.isDatabaseDown) log().error({ err: error }, "the engine failed");
  });
  provider.on("backchannel.error", (_ctx, error, client) =>
    log().error({ err: error, clientId: client.clientId }, "a logout notice could not be queued"),
  );
  provider.on("authorization.error", neverRedirectUnresolved);
  provider.on("authorization.success", (ctx) => countAuthorization(ctx.oidc.client?.clientId, ctx.oidc.account?.accountId));
  provider.on("grant.success", (ctx) => countToken(ctx.oidc.client?.clientId, ctx.oidc.account?.accountId));
  provider.use(captureFailure);
  provider.use(protectPage);
  provider.use(askBeforeLogout);
  provider.use(endSiteSessionWithLogout);
  provider.use(correctResponse);
}

/** An unresolved `request_uri` leads to an error page: the redirect URI is unknown or must not be revealed. */
function neverRedirectUnresolved({ oidc }: KoaContextWithOIDC, error: errors.OIDCProviderError): void {
  const isUnresolved = oidc.route === "authorization" && oidc.params?.request_uri !== undefined;
  if (isUnresolved && /^invalid_request_(uri|object)$/.test(error.error)) error.allow_redirect = false;
}

const failures = new WeakMap<ServerResponse, unknown>();

export function takeFailure(res: ServerResponse): unknown {
  const failure = failures.get(res);
  failures.delete(res);
  return failure;
}

/** Without this, the server below the engine would send its own 500. */
async function captureFailure(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
  try {
    await next();
  } catch (error) {
    ctx.respond = false;
    failures.set(ctx.res, error);
  }
}

/** The engine adds its own script to this policy (S23). */
async function protectPage(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
  if (isPersonEndpoint(ctx.path)) ctx.set(pageHeaders);
  await next();
}

type ErrorBody = { error?: string; error_description?: string };

// Longer than the lookup of an unknown client takes (S41).
const FAILED_AUTHENTICATION_MS = 25;

async function correctResponse(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
  const startedAt = performance.now();
  await next();
  if (ctx.state.isDatabaseDown) answerDatabaseDown(ctx);
  // RFC 6750 §4 makes the value case-insensitive. See docs/specification/oauth.md#token-endpoint.
  if (isTokenBody(ctx.body) && ctx.body.token_type === "Bearer") ctx.body = { ...ctx.body, token_type: "bearer" };
  if (ctx.status === 200 && isPublicDocument(ctx.path)) ctx.set("Cache-Control", `public, max-age=${KEYS_CACHED_SECONDS}`);
  if (ctx.status === 200 && isMetadata(ctx.path) && (await isRegistrationOn())) {
    ctx.body = { ...(ctx.body as object), registration_endpoint: env().ORIGIN + REGISTRATION };
  }
  if (ctx.status === 200 && isMetadata(ctx.path) && !(await areDocumentsAccepted())) {
    ctx.body = { ...(ctx.body as object), client_id_metadata_document_supported: false };
  }
  if (isClientEndpoint(ctx.path)) {
    ctx.set("Cache-Control", "no-store");
    if (isErrorBody(ctx.body)) await correctClientError(ctx, ctx.body, startedAt);
    else if (isTokenBody(ctx.body) || isAuthenticated(ctx)) rememberSuccess(ctx.res);
    if (isDeviceBody(ctx.body)) ctx.body = describeDeviceAuthorization(ctx, ctx.body);
  }
  if (isErrorBody(ctx.body) && ctx.body.error_description) {
    ctx.body = { ...ctx.body, error_description: printable(ctx.body.error_description) };
  }
}

function answerDatabaseDown(ctx: KoaContextWithOIDC): void {
  const [error, description] = ["temporarily_unavailable", "the service cannot reach its database"];
  if (typeof ctx.body === "string") ctx.body = errorPage({ error, description });
  else ctx.body = { error, error_description: description };
  ctx.status = 503;
  ctx.set("Retry-After", "2");
}

/** RFC 6749 §5.2. */
async function correctClientError(ctx: KoaContextWithOIDC, body: ErrorBody, startedAt: number): Promise<void> {
  if (body.error === "invalid_grant" && isProofMissing(ctx)) {
    // The engine reports a missing proof as an invalid grant, like a wrong code.
    ctx.body = { error: "invalid_request", error_description: "this app can only get tokens with a DPoP proof" };
    return;
  }
  if (body.error === "invalid_client" || (body.error === "invalid_grant" && isGuess(ctx))) countFailure(ctx.res);
  if (body.error === "invalid_client") {
    // S41: an unknown client and a wrong secret get the same response.
    ctx.status = 401;
    ctx.remove("WWW-Authenticate");
    ctx.set(challengeFor(ctx.res));
    // An authenticated client may learn the reason (S90).
    if (ctx.state.isExplained) return;
    const form = ctx.oidc.params as { grant_type?: string } | undefined;
    ctx.body = { error: body.error, error_description: failedAuthentication(ctx.path, form?.grant_type) };
    await sleep(Math.max(1, FAILED_AUTHENTICATION_MS - (performance.now() - startedAt)));
  } else if (isNotAllowed(body) && ctx.oidc.params?.grant_type === TOKEN_EXCHANGE_GRANT) {
    // Rule 1 of docs/specification/organizations-and-tokens.md#token-exchange differs from RFC 6749 §5.2 (S90).
    ctx.status = 401;
    ctx.set(challengeFor(ctx.res));
    ctx.body = { error: "invalid_client", error_description: NOT_BOUND };
  } else if (isNotAllowed(body)) {
    // The engine lacks this code of RFC 6749 §5.2 (S42, S66).
    ctx.body = { error: "unauthorized_client", error_description: notAllowed(ctx.path, body.error_description ?? "") };
  } else if (body.error === "invalid_scope" && ctx.path === protocolRoutes.device_authorization) {
    ctx.body = { ...body, error_description: `${body.error_description}; the app may request ${ctx.oidc.client?.scope}` };
  } else if (body.error === "unsupported_token_type" && ctx.path === protocolRoutes.introspection) {
    // For everything but an active token, RFC 7662 §2.2 has one response (S104).
    ctx.status = 200;
    ctx.body = { active: false };
  }
}

/** A wrong code is not a guess: otherwise made-up codes at a site's callback would stop all sign-ins there (S56). */
function isGuess({ oidc: { client, params } }: KoaContextWithOIDC): boolean {
  if (params?.grant_type === "authorization_code") return false;
  return client?.clientAuthMethod === "none" || params?.grant_type !== "refresh_token";
}

const isAuthenticated = ({ oidc: { client } }: KoaContextWithOIDC) => client !== undefined && client.clientAuthMethod !== "none";

const isNotAllowed = (body: ErrorBody) => body.error_description?.endsWith(" is not allowed for this client") ?? false;

function isProofMissing(ctx: KoaContextWithOIDC): boolean {
  return ctx.oidc.client?.dpopBoundAccessTokens === true && ctx.get("DPoP") === "";
}

function notAllowed(path: string, description: string): string {
  if (path !== protocolRoutes.device_authorization) return description;
  return `this app may not use the device flow; its owner can enable it in the app's settings; an app without settings on this service has to list ${DEVICE_CODE_GRANT} in grant_types`;
}

function isTokenBody(body: unknown): body is { token_type: string } {
  return typeof body === "object" && body !== null && "token_type" in body && "access_token" in body;
}

function isDeviceBody(body: unknown): body is { verification_uri: string } {
  return typeof body === "object" && body !== null && "device_code" in body && "verification_uri" in body;
}

function isErrorBody(body: unknown): body is ErrorBody {
  return typeof body === "object" && body !== null && "error" in body;
}
