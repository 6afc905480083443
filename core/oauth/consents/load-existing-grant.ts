import { errors, type Grant, type KoaContextWithOIDC } from "oidc-provider";
import { GRANT_REDIRECT_URI } from "../artifacts/grant-store.ts";
import { type Consent, findConsent } from "./find-consent.ts";

/** An abandoned page must leave nothing behind, so `prepareGrant` stores a derived Grant only later. */
export async function loadExistingGrant(ctx: KoaContextWithOIDC): Promise<Grant | undefined> {
  const { provider, client, account, result } = ctx.oidc;
  if (!client || !account) return undefined;
  const answered = result?.consent?.grantId;
  if (answered) return provider.Grant.find(answered);

  // Each sign-in gets its own Grant, so that a replayed code ends only the tokens of that sign-in.
  const consent = await findConsent(ctx, account.accountId, client.clientId);
  return consent && grantFromConsent(ctx, consent);
}

function grantFromConsent(ctx: KoaContextWithOIDC, consent: Consent): Grant {
  const grant = new ctx.oidc.provider.Grant({ accountId: consent.userId, clientId: consent.clientId });
  fillGrant(grant, consent, ctx.oidc.params?.redirect_uri);
  return grant;
}

/** @param redirectUri the Grant ends when the app removes this URI (S86). A device has none. */
export function fillGrant(
  grant: Grant,
  { scopes, declinedScopes }: Pick<Consent, "scopes" | "declinedScopes">,
  redirectUri?: unknown,
): void {
  if (redirectUri !== undefined) Object.assign(grant, { [GRANT_REDIRECT_URI]: String(redirectUri) });
  if (scopes.length > 0) grant.addOIDCScope(scopes.join(" "));
  if (declinedScopes.length > 0) grant.rejectOIDCScope(declinedScopes.join(" "));
}

/** @throws AccessDenied if the consent was revoked or changed since this request read it */
export async function prepareGrant(ctx: KoaContextWithOIDC): Promise<void> {
  const { grant, session, client, provider } = ctx.oidc;
  if (!grant || !client || grant.jti) return;
  const grantId = await grant.save();
  if (!(await provider.Grant.find(grantId))) throw new errors.AccessDenied("the consent was just revoked");
  session?.ensureClientContainer(client.clientId);
  session?.grantIdFor(client.clientId, grantId);
}
