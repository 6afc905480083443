import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { organizationPlans } from "../../accounts/organizations/plans.ts";
import { displayText, plainText } from "../../accounts/plain-text.ts";
import { seal, unseal } from "../../crypto/seal.ts";
import { db } from "../../db.ts";
import { invalidRequest, notFound } from "../../errors.ts";

export const PROVIDER_NAME_MAX_CHARACTERS = 60;
export const PROVIDERS_MAX = 50;
export const MODEL_NAME_MAX_CHARACTERS = 200;
export const MODELS_MAX = 500;
const URL_MAX_CHARACTERS = 500;
const KEY_MAX_CHARACTERS = 1_000;
const PURPOSE = "inference provider keys";

export function parseProviderName(value: unknown): string {
  return displayText("name", value, { maxCharacters: PROVIDER_NAME_MAX_CHARACTERS });
}

/** The base URL ends before `/chat/completions` and has no trailing slash. */
export function parseBaseUrl(value: unknown): string {
  const url = URL.parse(plainText("baseUrl", value, URL_MAX_CHARACTERS).trim());
  const isPlain = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash;
  if (!isPlain)
    throw invalidRequest("Enter the URL that comes before /chat/completions, such as https://api.example.com/v1.", "baseUrl");
  return url.href.replace(/(?<!\/)\/+$/, "");
}

export function parseApiKey(value: unknown): string | null {
  const key = plainText("apiKey", value ?? "", KEY_MAX_CHARACTERS).trim();
  if (key === "") return null;
  if (!/^[\x21-\x7e]+$/.test(key))
    throw invalidRequest("A key can contain letters, digits and symbols, but no spaces.", "apiKey");
  return key;
}

/** The key is encrypted (S55). */
export function sealedKey(key: string | null): { sealedApiKey: Uint8Array<ArrayBuffer> | null; last4: string | null } {
  // The end of a short key would reveal too much of it.
  return { sealedApiKey: key === null ? null : seal(PURPOSE, key), last4: key && key.length >= 12 ? key.slice(-4) : null };
}

export function openKey(sealed: Uint8Array | null): string | null {
  return sealed && unseal(PURPOSE, sealed);
}

export type NewModel = { name: string; upstreamName: string; plans: string[] };

export function parseModel(input: { name: unknown; upstreamName?: unknown; plans?: readonly unknown[] }): NewModel {
  const name = modelName("model", input.name);
  const plans = [...new Set(input.plans ?? [])];
  const unknown = plans.find((plan) => !organizationPlans.some((each) => each === plan));
  if (unknown !== undefined) throw invalidRequest(`Choose plans from: ${organizationPlans.join(", ")}.`, "plans");
  return {
    name,
    upstreamName: input.upstreamName ? modelName("upstreamName", input.upstreamName) : name,
    plans: plans as string[],
  };
}

function modelName(field: string, value: unknown): string {
  const name = plainText(field, value, MODEL_NAME_MAX_CHARACTERS).trim();
  if (!/^[\x21-\x7e]+$/.test(name)) {
    throw invalidRequest("A model's name can contain letters, digits and symbols such as - . : and /, but no spaces.", field);
  }
  return name;
}

export type ListedProvider = {
  id: string;
  name: string;
  baseUrl: string;
  last4: string | null;
  hasKey: boolean;
  isOwnNetworkAllowed: boolean;
  createdAt: Date;
  disabledAt: Date | null;
  models: { id: string; name: string; upstreamName: string; plans: string[] }[];
};

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

/** For the operator's command. Ignores case, for which Prisma uses ILIKE, so the pattern's special characters are escaped. */
export async function findProviderByName(name: string): Promise<{ id: string; name: string }> {
  const found = await db().inferenceProvider.findFirst({
    where: { name: { equals: name.replaceAll("\0", "").replace(/[\\%_]/g, "\\$&"), mode: "insensitive" } },
    select: { id: true, name: true },
  });
  if (!found) throw notFound("Provider");
  return found;
}
