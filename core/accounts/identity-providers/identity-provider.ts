import { unseal } from "../../crypto/seal.ts";
import { env } from "../../env.ts";
import type { ProviderKind } from "./provider-kinds.ts";

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

/**
 * Where a provider sends the browser back to. Each has its own URL, so that a response of one cannot pass for another's (RFC
 * 9700 §4.4.2.2).
 */
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
