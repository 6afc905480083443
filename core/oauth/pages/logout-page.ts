import type { KoaContextWithOIDC } from "oidc-provider";
import { env } from "#core/env.ts";
import { protocolRoutes } from "../protocol-routes.ts";
import { escapeHtml, htmlPage } from "./layout.ts";

/** The engine's form, for cases in which the engine would not ask. */
export function logoutForm(secret: string): string {
  const action = `${env().ORIGIN}${protocolRoutes.end_session}/confirm`;
  return `<form id="op.logoutForm" method="post" action="${escapeHtml(action)}"><input type="hidden" name="xsrf" value="${secret}"/></form>`;
}

/**
 * Asks before signing out, whoever sent the user here: a site that could sign users out silently could annoy them with it (S108).
 * @param form the engine's form with its cross-site protection; its ID is `op.logoutForm`.
 */
export function renderLogoutPage(ctx: KoaContextWithOIDC, form: string): void {
  const brand = escapeHtml(env().BRAND_NAME);
  const name = ctx.oidc.client?.clientName;
  const from = name ? ` ${escapeHtml(name)} has signed you out on its side.` : "";
  const buttons = `<button type="submit">Stay signed in</button>
<button class="primary" type="submit" name="logout" value="yes">Sign out</button></form>`;
  ctx.body = htmlPage(
    "Sign out",
    `<h1>Sign out of ${brand}?</h1><p>${from} You would be signed out of ${brand} in this browser.</p>
${form.replace("</form>", buttons)}`,
  );
}

export function renderSignedOutPage(ctx: KoaContextWithOIDC): void {
  const brand = escapeHtml(env().BRAND_NAME);
  ctx.type = "html";
  ctx.body = htmlPage(
    "Signed out",
    `<h1>You are signed out</h1><p>You can close this page.</p>
<p class="muted"><a href="${escapeHtml(env().ORIGIN)}/login">Sign in to ${brand} again</a></p>`,
  );
}
