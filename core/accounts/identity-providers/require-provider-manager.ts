import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { requireIdentityProvider } from "./find-identity-provider.ts";
import type { IdentityProvider } from "./identity-provider.ts";

/**
 * A provider that the actor may change: the operator's is the operators', an organization's its administrators' and the operators'.
 * @throws ServiceError `not_found`, `forbidden`, `reauthentication_required`
 */
export async function requireProviderManager(actor: Actor, slug: string): Promise<IdentityProvider> {
  const provider = await requireIdentityProvider(slug);
  const what = "Identity provider";
  if (provider.orgId === null) await requirePermission(actor, "installation.configure", null, { what });
  else await requirePermission(actor, "organization.manage_security", { orgId: provider.orgId }, { what });
  return provider;
}
