import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type Provider from "oidc-provider";
import type { KoaContextWithOIDC } from "oidc-provider";
import { endSiteSessionByToken } from "#core/accounts/sessions/end-site-session.ts";
import { siteSessionCookie } from "#core/accounts/sessions/site-session-cookie.ts";
import { isDatabaseDown } from "#core/db.ts";
import { log } from "#core/log.ts";
import { challengeFor, FAILED_AUTHENTICATION } from "./client-authentication.ts";
import { countFailure } from "./failure-throttle.ts";
import { KEYS_CACHED_SECONDS } from "./keys.ts";
import { errorPage } from "./pages/error-page.ts";
import { pageHeaders } from "./pages/layout.ts";
import { logoutForm, renderLogoutPage } from "./pages/logout-page.ts";
import { isClientEndpoint, isPersonEndpoint, isPublicDocument, protocolRoutes } from "./protocol-routes.ts";
import { siteSessionOf } from "./site-session.ts";
import { countAuthorization, countToken } from "./usage.ts";

/** What we do around the engine's own work: answers mended, failures logged, use counted. */
export function watchEngine(provider: Provider): void {
  provider.on("server_error", (ctx, error) => {
    ctx.state.isDatabaseDown = isDatabaseDown(error);
    if (!ctx.state.isDatabaseDown) log().error({ err: error }, "the engine failed");
  });
  provider.on("authorization.success", (ctx) => countAuthorization(ctx.oidc.client?.clientId, ctx.oidc.account?.accountId));
  provider.on("grant.success", (ctx) => countToken(ctx.oidc.client?.clientId, ctx.oidc.account?.accountId));
  provider.use(handOverFailure);
  provider.use(protectPage);
  provider.use(askBeforeLogout);
  provider.use(endSiteSessionWithLogout);
  provider.use(mendAnswer);
}

const failures = new WeakMap<ServerResponse, unknown>();

/** What went wrong around the engine, where its own handling of errors does not reach; once, for whoever answers instead. */
export function takeFailure(res: ServerResponse): unknown {
  const failure = failures.get(res);
  failures.delete(res);
  return failure;
}

/** A session that cannot be saved, say: the server beneath the engine would answer 500 in words of its own. */
async function handOverFailure(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
  try {
    await next();
  } catch (error) {
    ctx.respond = false;
    failures.set(ctx.res, error);
  }
}

/** Before the engine answers: it reads the policy to let its own script through (S23). */
async function protectPage(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
  if (isPersonEndpoint(ctx.path)) ctx.set(pageHeaders);
  await next();
}

/**
 * Somebody may be signed in on our pages and unknown to the engine, since they have not used an app in this browser yet. It
 * would sign them out without a question, and so for any site that sends them here (S108).
 */
async function askBeforeLogout(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
  await next();
  if (ctx.path !== protocolRoutes.end_session || ctx.status !== 200) return;
  const { session } = ctx.oidc;
  const secret = (session?.state as { secret?: string } | undefined)?.secret;
  if (session?.accountId || !secret || !(await siteSessionOf(ctx))) return;
  renderLogoutPage(ctx, logoutForm(secret));
}

/** RP-initiated logout ends the site session too: there is one signed-in state, not two (S34). */
async function endSiteSessionWithLogout(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
  const isConfirmation = ctx.path === `${protocolRoutes.end_session}/confirm`;
  const { name, options } = siteSessionCookie();
  const token = isConfirmation ? ctx.cookies.get(name, { signed: false }) : undefined;
  await next();
  if (!token || ctx.status !== 303 || !isDestroyed(ctx.oidc.session)) return;
  await endSiteSessionByToken(token);
  ctx.cookies.set(name, null, { ...options, signed: false, maxAge: undefined });
}

/** The engine marks a session that a logout has ended; its types do not say so. */
const isDestroyed = (session: unknown): boolean => (session as { destroyed?: boolean } | undefined)?.destroyed === true;

type ErrorBody = { error?: string; error_description?: string };

// Longer than reading an unknown client takes, so that the time does not tell it from a wrong secret (S41).
const FAILED_AUTHENTICATION_MS = 25;

async function mendAnswer(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
  const startedAt = performance.now();
  await next();
  if (ctx.state.isDatabaseDown) answerDatabaseDown(ctx);
  // In the spelling of the brief and the public hub (§2.4); RFC 6750 §4 compares it without case.
  if (isTokenBody(ctx.body) && ctx.body.token_type === "Bearer") ctx.body = { ...ctx.body, token_type: "bearer" };
  if (ctx.status === 200 && isPublicDocument(ctx.path)) ctx.set("Cache-Control", `public, max-age=${KEYS_CACHED_SECONDS}`);
  if (isClientEndpoint(ctx.path)) {
    ctx.set("Cache-Control", "no-store");
    if (isErrorBody(ctx.body)) await mendClientError(ctx, ctx.body, startedAt);
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

/** Errors of the endpoints where clients authenticate, as RFC 6749 §5.2 has them where the engine differs. */
async function mendClientError(ctx: KoaContextWithOIDC, body: ErrorBody, startedAt: number): Promise<void> {
  if (body.error === "invalid_client" || body.error === "invalid_grant") countFailure(ctx.res);
  if (body.error === "invalid_client") {
    // S41: an unknown client and a wrong secret read the same.
    ctx.status = 401;
    ctx.remove("WWW-Authenticate");
    ctx.set(challengeFor(ctx.res));
    ctx.body = { error: body.error, error_description: FAILED_AUTHENTICATION };
    await sleep(Math.max(1, FAILED_AUTHENTICATION_MS - (performance.now() - startedAt)));
  } else if (body.error_description === "requested grant type is not allowed for this client") {
    // RFC 6749 §5.2 has a code for it, which the engine does not use (S42).
    ctx.body = { ...body, error: "unauthorized_client" };
  } else if (body.error === "unsupported_token_type" && ctx.path === protocolRoutes.introspection) {
    // An ID token, say. RFC 7662 §2.2 has one answer for whatever is not an active token here (S104).
    ctx.status = 200;
    ctx.body = { active: false };
  }
}

/** RFC 6749 §5.2: error_description is printable ASCII without " and \ (S38). */
function printable(text: string): string {
  return text.replace(/["\\]/g, "'").replace(/[^\x20-\x7e]/g, "?");
}

function isTokenBody(body: unknown): body is { token_type: string } {
  return typeof body === "object" && body !== null && "token_type" in body && "access_token" in body;
}

function isErrorBody(body: unknown): body is ErrorBody {
  return typeof body === "object" && body !== null && "error" in body;
}
