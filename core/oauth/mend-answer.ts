import { setTimeout as sleep } from "node:timers/promises";
import type { KoaContextWithOIDC } from "oidc-provider";
import { env } from "#core/env.ts";
import { challengeFor, failedAuthentication } from "./client-authentication.ts";
import { describeDeviceAuthorization } from "./device/describe-device-authorization.ts";
import { areDocumentsTaken } from "./documents/hosts/document-policy.ts";
import { NOT_BOUND } from "./exchange/assert-may-exchange.ts";
import { TOKEN_EXCHANGE_GRANT } from "./exchange/token-exchange.ts";
import { countFailure } from "./failure-throttle.ts";
import { KEYS_CACHED_SECONDS } from "./keys.ts";
import { errorPage } from "./pages/error-page.ts";
import { printable } from "./protocol-request.ts";
import { isClientEndpoint, isMetadata, isPublicDocument, protocolRoutes, REGISTRATION } from "./protocol-routes.ts";
import { isRegistrationOn } from "./registration/registration-policy.ts";

type ErrorBody = { error?: string; error_description?: string };

// Longer than reading an unknown client takes, so that timing does not distinguish it from a wrong secret (S41).
const FAILED_AUTHENTICATION_MS = 25;

/** Corrects the engine's responses where they differ from our contract. */
export async function mendAnswer(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
  const startedAt = performance.now();
  await next();
  if (ctx.state.isDatabaseDown) answerDatabaseDown(ctx);
  // In the public hub's spelling (docs/specification/oauth.md#token-endpoint); RFC 6750 §4 makes it case-insensitive.
  if (isTokenBody(ctx.body) && ctx.body.token_type === "Bearer") ctx.body = { ...ctx.body, token_type: "bearer" };
  if (ctx.status === 200 && isPublicDocument(ctx.path)) ctx.set("Cache-Control", `public, max-age=${KEYS_CACHED_SECONDS}`);
  if (ctx.status === 200 && isMetadata(ctx.path) && (await isRegistrationOn())) {
    ctx.body = { ...(ctx.body as object), registration_endpoint: env().ORIGIN + REGISTRATION };
  }
  if (ctx.status === 200 && isMetadata(ctx.path) && !(await areDocumentsTaken())) {
    ctx.body = { ...(ctx.body as object), client_id_metadata_document_supported: false };
  }
  if (isClientEndpoint(ctx.path)) {
    ctx.set("Cache-Control", "no-store");
    if (isErrorBody(ctx.body)) await mendClientError(ctx, ctx.body, startedAt);
    else if (isDeviceBody(ctx.body)) ctx.body = describeDeviceAuthorization(ctx, ctx.body);
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

/** Corrects errors of the endpoints with client authentication where the engine differs from RFC 6749 §5.2. */
async function mendClientError(ctx: KoaContextWithOIDC, body: ErrorBody, startedAt: number): Promise<void> {
  if (body.error === "invalid_grant" && isProofMissing(ctx)) {
    // RFC 9449 §5. The engine only says that the grant is invalid, for a code as for a missing proof.
    ctx.body = { error: "invalid_dpop_proof", error_description: "this app gets tokens only with a DPoP proof" };
    return;
  }
  if (body.error === "invalid_client" || body.error === "invalid_grant") countFailure(ctx.res);
  if (body.error === "invalid_client") {
    // S41: an unknown client and a wrong secret get the same response.
    ctx.status = 401;
    ctx.remove("WWW-Authenticate");
    ctx.set(challengeFor(ctx.res));
    // An authenticated client may still learn why it is refused (S90).
    if (ctx.state.isExplained) return;
    const form = ctx.oidc.params as { grant_type?: string } | undefined;
    ctx.body = { error: body.error, error_description: failedAuthentication(ctx.path, form?.grant_type) };
    await sleep(Math.max(1, FAILED_AUTHENTICATION_MS - (performance.now() - startedAt)));
  } else if (isNotAllowed(body) && ctx.oidc.params?.grant_type === TOKEN_EXCHANGE_GRANT) {
    // Rule 1 of docs/specification/organizations-and-tokens.md#token-exchange uses another code for this than RFC 6749 §5.2 (S90).
    ctx.status = 401;
    ctx.set(challengeFor(ctx.res));
    ctx.body = { error: "invalid_client", error_description: NOT_BOUND };
  } else if (isNotAllowed(body)) {
    // RFC 6749 §5.2 has a code for this, which the engine does not use (S42, S66).
    ctx.body = { error: "unauthorized_client", error_description: notAllowed(ctx.path, body.error_description ?? "") };
  } else if (body.error === "invalid_scope" && ctx.path === protocolRoutes.device_authorization) {
    ctx.body = { ...body, error_description: `${body.error_description}; the app may ask for ${ctx.oidc.client?.scope}` };
  } else if (body.error === "unsupported_token_type" && ctx.path === protocolRoutes.introspection) {
    // An ID token, for example. RFC 7662 §2.2 has one response for everything that is not an active token here (S104).
    ctx.status = 200;
    ctx.body = { active: false };
  }
}

const isNotAllowed = (body: ErrorBody) => body.error_description?.endsWith(" is not allowed for this client") ?? false;

function isProofMissing(ctx: KoaContextWithOIDC): boolean {
  return ctx.oidc.client?.dpopBoundAccessTokens === true && ctx.get("DPoP") === "";
}

function notAllowed(path: string, description: string): string {
  if (path !== protocolRoutes.device_authorization) return description;
  return "the device flow is off for this app; its owner can allow it in the app's settings";
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
