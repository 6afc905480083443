import type { KoaContextWithOIDC } from "oidc-provider";
import { signOut } from "#core/accounts/sessions/sign-out.ts";
import { siteSessionCookie } from "#core/accounts/sessions/site-session-cookie.ts";
import { logoutForm, renderLogoutPage } from "./pages/logout-page.ts";
import { protocolRoutes } from "./protocol-routes.ts";
import { siteSessionOf } from "./site-session.ts";

/** What RP-initiated logout means here beyond the engine's own session (docs/decisions/020). */

/**
 * Somebody may be signed in on our pages and unknown to the engine, since they have not used an app in this browser yet. It
 * would sign them out without a question, and so for any site that sends them here (S108).
 */
export async function askBeforeLogout(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
  await next();
  if (ctx.path !== protocolRoutes.end_session || ctx.status !== 200) return;
  const { session } = ctx.oidc;
  const secret = (session?.state as { secret?: string } | undefined)?.secret;
  if (session?.accountId || !secret || !(await siteSessionOf(ctx))) return;
  renderLogoutPage(ctx, logoutForm(secret));
}

/** RP-initiated logout ends the site session too: there is one signed-in state, not two (S34). */
export async function endSiteSessionWithLogout(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
  const isConfirmation = ctx.path === `${protocolRoutes.end_session}/confirm`;
  const { name, options } = siteSessionCookie();
  const token = isConfirmation ? ctx.cookies.get(name, { signed: false }) : undefined;
  await next();
  if (!token || ctx.status !== 303 || !isDestroyed(ctx.oidc.session)) return;
  await signOut(token, { ip: ctx.ip || null, userAgent: ctx.get("user-agent") || null });
  ctx.cookies.set(name, null, { ...options, signed: false, maxAge: undefined });
}

/** The engine marks a session that a logout has ended; its types do not say so. */
const isDestroyed = (session: unknown): boolean => (session as { destroyed?: boolean } | undefined)?.destroyed === true;
