import { unseal } from "#core/crypto/seal.ts";
import { type Db, db } from "#core/db.ts";
import { env } from "#core/env.ts";
import { notFound } from "#core/errors.ts";

/** A service at which users prove their identity. The client secret stays sealed until a request needs it. */
export type IdentityProvider = {
  id: string;
  /** Part of its redirect URI. */
  slug: string;
  /**
   * The organization whose administrators added it; null for one that the operator trusts. An organization's provider only
   * proves membership to that organization. Nobody signs in with it: its administrators could otherwise sign in as any of their
   * members (decision 042).
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

/** The redirect URI of a provider. Each has its own, so that a response cannot pass for another's (RFC 9700 §4.4.2.2). */
export function redirectUriOf(slug: string): string {
  return `${env().ORIGIN}/login/with/${slug}/callback`;
}

/** The slug of an organization's provider. It is known before the provider exists, since the issuer needs the redirect URI first. */
export function organizationSlug(orgId: string): string {
  return `org-${orgId}`;
}

export function isOrganizationSlug(slug: string): boolean {
  return slug.startsWith("org-");
}

/** `oidc`: any issuer with discovery; `google`: the same with known values; `github`: plain OAuth 2 and an API. */
export const providerKinds = ["oidc", "google", "github"] as const;
export type ProviderKind = (typeof providerKinds)[number];

type KindDefaults = {
  name: string;
  /** Undefined if it must be given. */
  issuer?: string;
  scopes: readonly string[];
  /**
   * Whether it can reauthenticate a user on request and reports the time (`max_age`, `auth_time`; OpenID Connect Core
   * §3.1.2.1). Google and GitHub cannot: they only let users choose an account again.
   */
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

/** Lower-case letters, digits and single hyphens, since a slug is part of a URL; an organization's is `org-` and its id. */
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
