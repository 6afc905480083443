import type Provider from "oidc-provider";
import type { KoaContextWithOIDC } from "oidc-provider";
import { endSiteSessionByToken } from "#core/accounts/sessions/end-site-session.ts";
import { siteSessionCookie } from "#core/accounts/sessions/site-session-cookie.ts";
import { isDatabaseDown } from "#core/db.ts";
import { log } from "#core/log.ts";
import { countFailure } from "./failure-throttle.ts";
import { countAuthorization, countToken } from "./usage.ts";

/** What we do around the engine's own work: answers mended, failures logged, use counted. */
export function watchEngine(provider: Provider): void {
  provider.on("server_error", (ctx, error) => {
    ctx.state.isDatabaseDown = isDatabaseDown(error);
    if (!ctx.state.isDatabaseDown) log().error({ err: error }, "the engine failed");
  });
  provider.on("authorization.success", (ctx) => countAuthorization(ctx.oidc.client?.clientId, ctx.oidc.account?.accountId));
  provider.on("grant.success", (ctx) => countToken(ctx.oidc.client?.clientId, ctx.oidc.account?.accountId));
  provider.use(endSiteSessionWithLogout);
  provider.use(mendAnswer);
}

/** RP-initiated logout ends the site session too: there is one signed-in state, not two (S34). */
async function endSiteSessionWithLogout(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
  const isConfirmation = ctx.method === "POST" && ctx.path === "/oauth/logout/confirm";
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

async function mendAnswer(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
  await next();
  if (ctx.state.isDatabaseDown) {
    ctx.status = 503;
    ctx.set("Retry-After", "2");
    if (isErrorBody(ctx.body))
      ctx.body = { error: "temporarily_unavailable", error_description: "the service cannot reach its database" };
    return;
  }
  // In the spelling of the brief and the public hub (§2.4); RFC 6750 §4 compares it without case.
  if (isTokenBody(ctx.body) && ctx.body.token_type === "Bearer") ctx.body = { ...ctx.body, token_type: "bearer" };
  if (!isErrorBody(ctx.body)) return;
  const body = ctx.body;
  if (body.error === "invalid_client" || body.error === "invalid_grant") countFailure(ctx.res);
  // S41: an unknown client and a wrong secret read the same.
  if (body.error === "invalid_client") {
    ctx.status = 401;
    body.error_description = "client authentication failed";
    if (/^basic /i.test(ctx.get("authorization"))) ctx.set("WWW-Authenticate", 'Basic realm="OAuth"');
  }
  // RFC 6749 §5.2 has a code for it, which the engine does not use (S42).
  if (body.error_description === "requested grant type is not allowed for this client") body.error = "unauthorized_client";
  // RFC 6749 §5.2: error_description is printable ASCII without " and \ (S38).
  if (body.error_description)
    body.error_description = body.error_description.replace(/["\\]/g, "'").replace(/[^\x20-\x7e]/g, "?");
  ctx.body = body;
}

function isTokenBody(body: unknown): body is { token_type: string } {
  return typeof body === "object" && body !== null && "token_type" in body && "access_token" in body;
}

function isErrorBody(body: unknown): body is ErrorBody {
  return typeof body === "object" && body !== null && "error" in body;
}
