import type { OrganizationRole, Scope } from "@keyhook/sdk";

/** The facts about the resource of an action on which a decision depends. */
export type Resources = {
  /** The service itself. */
  installation: null;
  user: { userId: string };
  organization: { orgId: string };
  /** An OAuth app, owned by a user or by an organization. */
  oauthApp: { ownerUserId: string | null; ownerOrgId: string | null };
  /** The owner of repositories or collections: a user or an organization. */
  namespace: Owner;
  repo: RepoResource;
  /** A discussion, a pull request or a comment, in its repository. */
  contribution: { repo: RepoResource; authorId: string | null };
  collection: Made;
};

export type Owner = { ownerUserId: string | null; ownerOrgId: string | null };

/** Something that a user created under an owner's name. */
export type Made = Owner & {
  isPrivate: boolean;
  createdById: string | null;
  createdByClientId: string | null;
};

export type RepoResource = Made & { repoId: string; isGated: boolean };

export type Rule = {
  on: keyof Resources;
  /** Every signed-in user. */
  everyone?: true;
  /**
   * Who may do it to a public resource: with `read`, everyone, signed in or not; with `granted`, everyone too, but for a gated repository
   * only users whose access request was accepted; with `signed-in`, every user.
   */
  public?: "read" | "granted" | "signed-in";
  /** The user that the resource is or belongs to. */
  owner?: true;
  /** Members, from this role upwards, of the organization that the resource is or belongs to. */
  role?: OrganizationRole;
  /** Includes members who do not yet meet the organization's requirements, such as a second step. */
  beforeRestrictions?: true;
  /** The member who created it, from this role upwards: an organization's `contributor` has full control of their own work. */
  creator?: OrganizationRole;
  /** Its author. */
  author?: true;
  /** Another action that must be allowed too. */
  also?: "repo.read" | "repo.read_content" | "repo.write";
  /** Operators of the service. */
  operator?: true;
  /** A CI job that is trusted with the repository. */
  publisher?: true;
  /** The action changes nothing, so the standing that was read with the token is enough. Changes read it again: a push may take an hour. */
  isReading?: true;
  /** Whether it requires recent authentication (S113). */
  recent?: true;
  /**
   * Only for the user's own programs, which have a personal access token or a token of the service's own command line. An app that a user
   * allowed must not read an audit log, or create or take over other apps, which would outlive the revocation of its own access.
   */
  ownPrograms?: true;
  /** The scopes that a token needs besides its user's right; `any` means any scope; if absent, tokens are refused. */
  token?: "any" | TokenScopes;
  /**
   * The error of a refusal. A resource that the actor may not see must be indistinguishable from one that does not exist (S136). With the
   * name of an action, the error is `forbidden` for actors who may do that action, and `not_found` for all others.
   */
  refusal: "forbidden" | "not_found" | "repo.read" | "collection.read";
  /**
   * With `not_found`: a token that lacks only the scope gets an error that says so (docs/specification/errors-and-limits.md#missing-scope).
   * That reveals nothing: the user has the right, and the resource is found by the user's own name or by an ID that nobody can guess.
   */
  tellsScope?: true;
};

/**
 * The scopes that allow the action, by the reason for which the user has the right (docs/specification/oauth.md#scopes). A token needs one
 * of them. If a list is absent or empty, no token can use the right.
 */
export type TokenScopes = {
  /** The user owns it. For a personal access token, these scopes are also enough for everything else that its user may do. */
  own?: readonly Scope[];
  /** An organization owns it, and the user granted that organization to the app (docs/specification/oauth.md). */
  organization?: readonly Scope[];
  /** The app itself created it. */
  made?: readonly Scope[];
  /** It is public and gated, and the user was given access. */
  granted?: readonly Scope[];
  /** It is public, and requires an account. */
  public?: readonly Scope[];
};
