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
  /** With `granted`, a gated repository is only for users whose request was accepted. `signed-in` is for every user. */
  public?: "read" | "granted" | "signed-in";
  /** The user that the resource is or belongs to. */
  owner?: true;
  /** Members, from this role upwards, of the organization that the resource is or belongs to. */
  role?: OrganizationRole;
  beforeRestrictions?: true;
  /** The member who created it, from this role upwards. */
  creator?: OrganizationRole;
  author?: true;
  also?: "repo.read" | "repo.read_content" | "repo.write";
  operator?: true;
  publisher?: true;
  /** The action changes nothing, so the standing that was read with the token is enough. */
  isReading?: true;
  /** Whether it requires recent authentication (S113). */
  recent?: true;
  /** Refuses other apps, which could take over apps or create some that outlive the revocation of their own access. */
  ownPrograms?: true;
  /** `any` means any scope. Without this property, tokens are refused. */
  token?: "any" | TokenScopes;
  /**
   * A hidden resource must look like a missing one (S136). With the name of an action, only actors who may do that action get
   * `forbidden`.
   */
  refusal: "forbidden" | "not_found" | "repo.read" | "collection.read";
  /** With `not_found`, names a missing scope (docs/specification/errors-and-limits.md#missing-scope). */
  tellsScope?: true;
};

/**
 * By the reason for which the user has the right (docs/specification/oauth.md#scopes). One scope of a list is enough. Without a
 * list, no token can use the right.
 */
export type TokenScopes = {
  own?: readonly Scope[];
  /** An organization owns it, and the user granted that organization to the app. */
  organization?: readonly Scope[];
  made?: readonly Scope[];
  /** It is public and gated, and the user was given access. */
  granted?: readonly Scope[];
  public?: readonly Scope[];
};
