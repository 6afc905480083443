import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { type Db, db } from "../../db.ts";
import { requireIdentityProvider } from "./find-identity-provider.ts";
import type { IdentityProvider } from "./identity-provider.ts";

/**
 * Requires the right to configure identity providers: here it belongs to operators, in an organization to its administrators
 * and the operators. It is checked before an issuer's document is requested, and again when the row is written: an issuer may
 * take seconds to answer, and the right may be gone by then (S135).
 * @throws ServiceError `not_found`, `forbidden`, `reauthentication_required`
 */
export async function requireProviderRight(actor: Actor, orgId: string | null, tx: Db = db()): Promise<void> {
  if (orgId === null) await requirePermission(actor, "installation.configure", null, { what: "Identity provider", tx });
  else await requirePermission(actor, "organization.manage_security", { orgId }, { what: "Organization", tx });
}

/**
 * A provider that the actor may change.
 * @throws ServiceError as above
 */
export async function requireProviderManager(actor: Actor, slug: string, tx: Db = db()): Promise<IdentityProvider> {
  const provider = await requireIdentityProvider(slug, tx);
  await requireProviderRight(actor, provider.orgId, tx);
  return provider;
}
