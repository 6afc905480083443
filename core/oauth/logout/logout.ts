import type { KoaContextWithOIDC } from "oidc-provider";
import { signOut } from "#core/accounts/sessions/end-site-session.ts";
import { siteSessionCookie } from "#core/accounts/sessions/site-session-cookie.ts";
import { env } from "#core/env.ts";
import { escapeHtml, htmlPage } from "../pages/layout.ts";
import { ProtocolError } from "../protocol-request.ts";
import { protocolRoutes } from "../protocol-routes.ts";
import { siteSessionOf } from "../site-session.ts";

/** See docs/decisions/020. */

/** The engine keeps `state` in the session until the user answers (S143). */
export const STATE_MAX_BYTES = 2048;

type Question = { secret?: string; state?: string; postLogoutRedirectUri?: string };

/**
 * Without this, any site could sign out a user who has no session at the engine (S108). For a visitor without a session, the
 * engine would store an empty one (S143).
 */
export async function askBeforeLogout(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
  if (ctx.path !== protocolRoutes.end_session) return next();
  if (Buffer.byteLength(String(ctx.query.state ?? "")) > STATE_MAX_BYTES) {
    throw new ProtocolError(400, "invalid_request", `state is longer than ${STATE_MAX_BYTES.toLocaleString("en")} bytes`);
  }
  await next();
  const { session } = ctx.oidc;
  const question = session?.state as Question | undefined;
  if (ctx.status !== 200 || session?.accountId || !question?.secret) return;
  if (await siteSessionOf(ctx)) return renderLogoutPage(ctx, logoutForm(question.secret));
  ctx.remove("Set-Cookie");
  ctx.status = 303;
  ctx.redirect(returnAddress(question));
}

function returnAddress({ postLogoutRedirectUri, state }: Question): string {
  const url = new URL(postLogoutRedirectUri ?? `${env().ORIGIN}${protocolRoutes.end_session}/success`);
  if (postLogoutRedirectUri && state !== undefined) url.searchParams.set("state", state);
  return url.href;
}

/** There is one signed-in state (S34), so a sign-out at the engine ends the site session too. */
export async function endSiteSessionWithLogout(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
  const isConfirmation = ctx.path === `${protocolRoutes.end_session}/confirm`;
  const { name, options } = siteSessionCookie();
  const token = isConfirmation ? ctx.cookies.get(name, { signed: false }) : undefined;
  await next();
  if (!token || ctx.status !== 303 || !isDestroyed(ctx.oidc.session)) return;
  await signOut(token, { ip: ctx.ip || null, userAgent: ctx.get("user-agent") || null });
  ctx.cookies.set(name, null, { ...options, signed: false, maxAge: undefined });
}

const isDestroyed = (session: unknown): boolean => (session as { destroyed?: boolean } | undefined)?.destroyed === true;

function logoutForm(secret: string): string {
  const action = `${env().ORIGIN}${protocolRoutes.end_session}/confirm`;
  return `<form id="op.logoutForm" method="post" action="${escapeHtml(action)}"><input type="hidden" name="xsrf" value="${secret}"/></form>`;
}

/**
 * The question prevents a site from signing users out silently (S108).
 * @param form the engine's form, whose ID is `op.logoutForm`
 */
export function renderLogoutPage(ctx: KoaContextWithOIDC, form: string): void {
  const brand = escapeHtml(env().BRAND_NAME);
  const name = ctx.oidc.client?.clientName;
  // Any site can link here with an app's `client_id`, so the session at the app is unknown.
  const rest = name ? ` You may still be signed in to ${escapeHtml(name)}.` : "";
  const buttons = `<button type="submit">Stay signed in</button>
<button class="primary" type="submit" name="logout" value="yes">Sign out</button></form>`;
  ctx.body = htmlPage(
    "Sign out",
    `<h1>Sign out of ${brand}?</h1><p>This signs you out of ${brand} in this browser.${rest}</p>
${form.replace("</form>", buttons)}`,
  );
}

export function renderSignedOutPage(ctx: KoaContextWithOIDC): void {
  const brand = escapeHtml(env().BRAND_NAME);
  ctx.type = "html";
  ctx.body = htmlPage(
    "Signed out",
    `<h1>You are signed out</h1><p>You can close this page.</p>
<p class="actions"><a class="button" href="${escapeHtml(env().ORIGIN)}/login">Sign in to ${brand} again</a></p>`,
  );
}
