import { unseal } from "../../crypto/seal.ts";
import { env } from "../../env.ts";
import type { ProviderKind } from "./provider-kinds.ts";

/** Where people prove who they are elsewhere. The client secret stays sealed until a request needs it. */
export type IdentityProvider = {
  id: string;
  /** In the address of its redirect URI. */
  slug: string;
  /**
   * The organization whose administrators named it; null for one that the operator trusts. An organization's provider proves
   * membership to that organization and nothing else: nobody signs in by it, since its administrators could then sign in as
   * any of their members (decision 042).
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

/** Where a provider sends the browser back to: one address for each, so that an answer of one is no answer of another (RFC 9700 §4.4.2.2). */
export function redirectUriOf(slug: string): string {
  return `${env().ORIGIN}/login/with/${slug}/callback`;
}

/** The slug of an organization's provider: known before there is one, since the issuer wants the redirect URI first. */
export function organizationSlug(orgId: string): string {
  return `org-${orgId}`;
}

export function isOrganizationSlug(slug: string): boolean {
  return slug.startsWith("org-");
}
