import { unseal } from "#core/crypto/seal.ts";
import { type Db, db } from "#core/db.ts";
import { env } from "#core/env.ts";
import { notFound } from "#core/errors.ts";

export type IdentityProvider = {
  id: string;
  slug: string;
  /**
   * Null for a provider that the operator trusts. Nobody signs in with an organization's provider, because its administrators
   * could sign in as any member (decision 042).
   */
  orgId: string | null;
  kind: ProviderKind;
  name: string;
  issuer: string;
  clientId: string;
  sealedClientSecret: Uint8Array | null;
  scopes: string[];
  isSignUpAllowed: boolean;
  createdAt: Date;
  disabledAt: Date | null;
};

export const SECRET_PURPOSE = "identity provider";

export function clientSecretOf({ sealedClientSecret }: IdentityProvider): string | undefined {
  return sealedClientSecret ? unseal(SECRET_PURPOSE, sealedClientSecret) : undefined;
}

/** Each provider has its own redirect URI, so that its response cannot pass for another provider's (RFC 9700 §4.4.2.2). */
export function redirectUriOf(slug: string): string {
  return `${env().ORIGIN}/login/with/${slug}/callback`;
}

/** Contains the organization's ID, because the issuer needs the redirect URI before the provider exists. */
export function organizationSlug(orgId: string): string {
  return `org-${orgId}`;
}

export function isOrganizationSlug(slug: string): boolean {
  return slug.startsWith("org-");
}

export const providerKinds = ["oidc", "google", "github"] as const;
export type ProviderKind = (typeof providerKinds)[number];

type KindDefaults = {
  name: string;
  issuer?: string;
  scopes: readonly string[];
  /** Whether the provider supports `max_age` and `auth_time` (OpenID Connect Core §3.1.2.1), which Google and GitHub do not. */
  canReauthenticate: boolean;
};

export const kindDefaults: Record<ProviderKind, KindDefaults> = {
  oidc: { name: "", scopes: ["openid", "email", "profile"], canReauthenticate: true },
  google: {
    name: "Google",
    issuer: "https://accounts.google.com",
    scopes: ["openid", "email", "profile"],
    canReauthenticate: false,
  },
  github: { name: "GitHub", issuer: "https://github.com", scopes: ["read:user", "user:email"], canReauthenticate: false },
};

export const SLUG = /^[a-z0-9]+(-[a-z0-9]+)*$/;
export const SLUG_MAX_CHARACTERS = 40;

export async function findIdentityProvider(slug: string, tx: Db = db()): Promise<IdentityProvider | undefined> {
  if (!SLUG.test(slug) || slug.length > SLUG_MAX_CHARACTERS) return undefined;
  return ((await tx.identityProvider.findUnique({ where: { slug } })) ?? undefined) as IdentityProvider | undefined;
}

export async function requireIdentityProvider(slug: string, tx: Db = db()): Promise<IdentityProvider> {
  const provider = await findIdentityProvider(slug, tx);
  if (!provider) throw notFound("Identity provider");
  return provider;
}
