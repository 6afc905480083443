import type { OrganizationRole, Scope } from "@keyhook/sdk";

export type Resources = {
  installation: null;
  user: { userId: string };
  organization: { orgId: string };
  oauthApp: { ownerUserId: string | null; ownerOrgId: string | null };
  namespace: Owner;
  repo: RepoResource;
  contribution: { repo: RepoResource; authorId: string | null };
  collection: Made;
};

export type Owner = { ownerUserId: string | null; ownerOrgId: string | null };

export type Made = Owner & {
  isPrivate: boolean;
  createdById: string | null;
  createdByClientId: string | null;
};

export type RepoResource = Made & { repoId: string; isGated: boolean };

export type Rule = {
  on: keyof Resources;
  everyone?: true;
  /** `read`: everybody may act on public resources. `granted`: on gated ones, only users with access. `signed-in`: every user. */
  public?: "read" | "granted" | "signed-in";
  owner?: true;
  role?: OrganizationRole;
  beforeRestrictions?: true;
  /** The member who created the resource, with at least this role. */
  creator?: OrganizationRole;
  author?: true;
  also?: "repo.read" | "repo.read_content" | "repo.write";
  operator?: true;
  publisher?: true;
  /** The action changes nothing, so the standing that was read with the token is enough. */
  isReading?: true;
  /** Requires recent authentication (S113). */
  recent?: true;
  /** Refuses apps, which could take over other apps, or create apps that outlive the revocation of their own access. */
  ownPrograms?: true;
  /** `any` means that any scope is enough. Without this property, tokens are refused. */
  token?: "any" | TokenScopes;
  /**
   * The error for actors without the right. If it is the name of an action, actors who may do that action get `forbidden`, and
   * all others `not_found`, because a hidden resource must look like a missing one (S136).
   */
  refusal: "forbidden" | "not_found" | "repo.read" | "collection.read";
  /** Together with `not_found`: the error names a missing scope (docs/specification/errors-and-limits.md#missing-scope). */
  tellsScope?: true;
};

/**
 * The scopes for each reason for which the user has the right (docs/specification/oauth.md#scopes). One scope of a list is
 * enough. For a reason without a list, tokens are refused.
 */
export type TokenScopes = {
  own?: readonly Scope[];
  /** An organization owns the resource, and the user granted that organization to the app. */
  organization?: readonly Scope[];
  made?: readonly Scope[];
  /** The resource is public and gated, and the user was given access. */
  granted?: readonly Scope[];
  public?: readonly Scope[];
};
