import { type Actor, actorId } from "../../access/actor.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { seal } from "../../crypto/seal.ts";
import { db } from "../../db.ts";
import { checkProvider } from "./check-provider.ts";
import { SECRET_PURPOSE } from "./identity-provider.ts";
import * as parse from "./parse-identity-provider.ts";
import { requireProviderManager } from "./require-provider-manager.ts";

/**
 * Absent values stay unchanged. Linked identities depend on slug, kind and issuer, so these never change: a `sub` means nothing
 * at another issuer.
 */
export type IdentityProviderChanges = {
  name?: string;
  clientId?: string;
  /** An empty text keeps the current one: it is never shown, so it cannot be sent back. */
  clientSecret?: string;
  scopes?: readonly string[];
  isSignUpAllowed?: boolean;
};

/** @throws ServiceError `not_found`, `forbidden`, `reauthentication_required`, `invalid_request` with the field */
export async function updateIdentityProvider(
  actor: Actor,
  slug: string,
  changes: IdentityProviderChanges,
  from: RequestOrigin,
): Promise<void> {
  const provider = await requireProviderManager(actor, slug);
  const { id, kind, orgId } = provider;
  const clientSecret = parse.parseClientSecret(changes.clientSecret);
  const data = {
    name: changes.name === undefined ? provider.name : parse.parseProviderName(changes.name, kind),
    clientId: changes.clientId === undefined ? provider.clientId : parse.parseClientId(changes.clientId),
    scopes: changes.scopes === undefined ? provider.scopes : parse.parseProviderScopes(changes.scopes, kind),
    isSignUpAllowed: orgId === null && (changes.isSignUpAllowed ?? provider.isSignUpAllowed),
  };
  await checkProvider(kind, provider.issuer, orgId);
  await db().$transaction(async (tx) => {
    await requireProviderManager(actor, slug, tx);
    await tx.identityProvider.update({
      where: { id },
      data: { ...data, ...(clientSecret === undefined ? {} : { sealedClientSecret: seal(SECRET_PURPOSE, clientSecret) }) },
    });
    await recordAuditEvent(tx, {
      type: "identity_provider.update",
      actorId: actorId(actor),
      orgId,
      data: { ...data, slug, ...(clientSecret === undefined ? {} : { clientSecret: "changed" }) },
      from,
    });
  });
}
