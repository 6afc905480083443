import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { type Db, db } from "../../db.ts";
import { requireIdentityProvider } from "./find-identity-provider.ts";
import type { IdentityProvider } from "./identity-provider.ts";

/**
 * Whether the actor may say where people prove who they are: here, which is the operators' to say, or in an organization, which is its
 * administrators' and the operators'. It is asked before an issuer is asked for its document, and again where the row is written: an
 * issuer may take seconds to answer, and the right may be gone by then (S135).
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
