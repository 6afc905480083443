import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { db } from "../../db.ts";
import { PROVIDERS_MAX } from "./add-identity-provider.ts";
import type { IdentityProvider } from "./identity-provider.ts";
import type { ProviderKind } from "./provider-kinds.ts";

export type ListedIdentityProvider = Omit<IdentityProvider, "sealedClientSecret"> & {
  hasSecret: boolean;
  /** Number of linked identities. */
  linked: number;
};

/** The operator's providers, in the order of their buttons. @throws ServiceError `forbidden` */
export async function listIdentityProviders(actor: Actor): Promise<ListedIdentityProvider[]> {
  await requirePermission(actor, "installation.operate", null, { what: "Service" });
  const rows = await db().identityProvider.findMany({
    where: { orgId: null },
    orderBy: [{ createdAt: "asc" }, { id: "asc" }],
    take: PROVIDERS_MAX,
    include: { _count: { select: { identities: true } } },
  });
  return rows.map(({ _count, sealedClientSecret, kind, ...row }) => ({
    ...row,
    kind: kind as ProviderKind,
    hasSecret: sealedClientSecret !== null,
    linked: _count.identities,
  }));
}

/** The content of a button. */
export type OfferedProvider = { slug: string; name: string; kind: ProviderKind };

/** The operator's enabled providers, with which anybody may sign in. */
export async function listOfferedProviders(): Promise<OfferedProvider[]> {
  const rows = await db().identityProvider.findMany({
    where: { orgId: null, disabledAt: null },
    orderBy: [{ createdAt: "asc" }, { id: "asc" }],
    take: PROVIDERS_MAX,
    select: { slug: true, name: true, kind: true },
  });
  return rows as OfferedProvider[];
}
