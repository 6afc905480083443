import { type Db, db } from "../../db.ts";
import { notFound } from "../../errors.ts";
import type { IdentityProvider } from "./identity-provider.ts";

/** Part of a URL, hence the few kinds of letters; an organization's are `org-` and its id. */
export const SLUG = /^[a-z0-9]+(-[a-z0-9]+)*$/;
export const SLUG_MAX_CHARACTERS = 40;

/** Finds a provider by the slug in its URLs, even if disabled. */
export async function findIdentityProvider(slug: string, tx: Db = db()): Promise<IdentityProvider | undefined> {
  if (!SLUG.test(slug) || slug.length > SLUG_MAX_CHARACTERS) return undefined;
  return ((await tx.identityProvider.findUnique({ where: { slug } })) ?? undefined) as IdentityProvider | undefined;
}

/** @throws ServiceError `not_found` */
export async function requireIdentityProvider(slug: string, tx: Db = db()): Promise<IdentityProvider> {
  const provider = await findIdentityProvider(slug, tx);
  if (!provider) throw notFound("Identity provider");
  return provider;
}
