import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { db } from "../../db.ts";
import { notFound } from "../../errors.ts";
import { MODELS_MAX, PROVIDERS_MAX } from "./provider.ts";

export type ListedProvider = {
  id: string;
  name: string;
  baseUrl: string;
  /** The end of its key; null if it has none, or one too short to show any of it. */
  last4: string | null;
  hasKey: boolean;
  isOwnNetworkAllowed: boolean;
  createdAt: Date;
  disabledAt: Date | null;
  models: { id: string; name: string; upstreamName: string; plans: string[] }[];
};

/** Every provider with its models, by name; the numbers of both are limited. @throws ServiceError `forbidden` */
export async function listProviders(actor: Actor): Promise<ListedProvider[]> {
  await requirePermission(actor, "installation.operate", null, { what: "The installation" });
  const rows = await db().inferenceProvider.findMany({
    orderBy: { name: "asc" },
    take: PROVIDERS_MAX,
    include: {
      models: { orderBy: { name: "asc" }, take: MODELS_MAX, select: { id: true, name: true, upstreamName: true, plans: true } },
    },
  });
  return rows.map(({ sealedApiKey, ...provider }) => ({ ...provider, hasKey: sealedApiKey !== null }));
}

/** A provider by its name, ignoring case, for the operator's command. @throws ServiceError `not_found` */
export async function findProviderByName(name: string): Promise<{ id: string; name: string }> {
  const found = await db().inferenceProvider.findFirst({
    where: { name: { equals: name.replaceAll("\0", "").replace(/[\\%_]/g, "\\$&"), mode: "insensitive" } },
    select: { id: true, name: true },
  });
  if (!found) throw notFound("Provider");
  return found;
}
