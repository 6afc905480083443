import type { OrganizationRole, Scope } from "@keyhook/sdk";

/** What an action is done to, in the few facts that a decision needs. */
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
   * Who may do it to a public resource: with `read`, everyone, signed in or not; with `granted` the same, but for a gated repository only
   * users whose access request was accepted; with `signed-in`, every user.
   */
  public?: "read" | "granted" | "signed-in";
  /** The user that the resource is or belongs to. */
  owner?: true;
  /** Members, from this role upwards, of the organization that the resource is or belongs to. */
  role?: OrganizationRole;
  /** Includes members who do not yet meet the organization's requirements, such as a second step. */
  beforeRestrictions?: true;
  /** The member who created it, from this role upwards: an organization's `contributor` has full control of their own work. */
  maker?: OrganizationRole;
  /** Its author. */
  author?: true;
  /** Another action that must be allowed too. */
  also?: "repo.read" | "repo.write";
  /** Operators of the service. */
  operator?: true;
  /** A CI job that is trusted with the repository. */
  publisher?: true;
  /**
   * The action changes nothing and may be decided by the user's standing when their token was looked up. A change is decided by the current
   * standing: a push may have been running for an hour.
   */
  isReading?: true;
  /** Whether it requires recent authentication (S113). */
  recent?: true;
  /**
   * Only for the user's own programs: with a personal access token, or a token of the service's own command line. An app that a user
   * allowed must not create or take over other apps, which would outlive the revocation of its access.
   */
  ownPrograms?: true;
  /** What a token needs besides its user's right, `any` for no particular scope; if absent, tokens are refused. */
  token?: "any" | TokenScopes;
  /**
   * The error of a refusal. What the actor may not see must be indistinguishable from what does not exist (S136). The name of an action
   * stands for either: `not_found` for actors who may not even do that.
   */
  refusal: "forbidden" | "not_found" | "repo.read" | "collection.read";
  /**
   * With `not_found`: a token that lacks only the scope is told so (docs/specification/errors-and-limits.md#missing-scope). Its user has
   * the right, and the resource is found by the user's own name or by an ID that nobody can guess.
   */
  tellsScope?: true;
};

/**
 * The scopes of which a token needs one, by what gives its user the right (docs/specification/oauth.md#scopes). If a list is absent or
 * empty, no token can do it that way.
 */
export type TokenScopes = {
  /** The user owns it. Also covers everything that a personal access token reaches. */
  own?: readonly Scope[];
  /**
   * An organization owns it, and the user granted the organization to the app
   * (docs/specification/oauth.md#organizations-in-an-authorization-request).
   */
  organization?: readonly Scope[];
  /** The app itself created it. */
  made?: readonly Scope[];
  /** It is public and gated, and the user was given access. */
  granted?: readonly Scope[];
  /** It is public, and requires an account. */
  public?: readonly Scope[];
};

const reads = {
  own: ["read-repos", "write-repos", "manage-repos"],
  organization: ["read-repos"],
  made: ["contribute-repos"],
  granted: ["gated-repos"],
} as const satisfies TokenScopes;
/** On behalf of the user, wherever they may read. Unlike the scopes for repositories, this one is not limited to what the user owns. */
const discusses = {
  own: ["write-discussions"],
  organization: ["write-discussions"],
  public: ["write-discussions"],
} as const satisfies TokenScopes;

const byOwnPrograms = { ownPrograms: true, token: { own: ["manage-repos"] } } as const;

/** All rules of who may do what, as data. Each door and each operation of core asks `may`; none has a rule of its own (S135). */
export const rules = {
  "user.create": { on: "installation", operator: true, refusal: "forbidden" },
  "user.update": { on: "user", owner: true, refusal: "not_found" },
  "user.change_email": { on: "user", owner: true, recent: true, refusal: "not_found" },
  /** Who they are, where they are signed in and which apps they allowed, as operators see it. */
  "user.inspect": { on: "user", operator: true, refusal: "not_found" },
  "user.disable": { on: "user", operator: true, recent: true, refusal: "not_found" },
  "user.end_sessions": { on: "user", operator: true, recent: true, refusal: "not_found" },
  "user.set_operator": { on: "user", operator: true, recent: true, refusal: "not_found" },
  "user.delete": { on: "user", owner: true, operator: true, recent: true, refusal: "not_found" },
  "user.set_password": { on: "user", owner: true, recent: true, refusal: "not_found" },
  "linked_identity.link": { on: "user", owner: true, recent: true, refusal: "not_found" },
  "linked_identity.unlink": { on: "user", owner: true, recent: true, refusal: "not_found" },
  /** Passkeys, the authenticator app, recovery codes. */
  "second_step.manage": { on: "user", owner: true, recent: true, refusal: "not_found" },
  /** For a user who is locked out. */
  "second_step.reset": { on: "user", operator: true, recent: true, refusal: "not_found" },
  "personal_access_token.list": { on: "user", owner: true, refusal: "not_found" },
  "personal_access_token.create": { on: "user", owner: true, recent: true, refusal: "not_found" },
  "personal_access_token.revoke": { on: "user", owner: true, operator: true, refusal: "not_found" },

  "user.list_publishers": { on: "user", owner: true, refusal: "not_found" },
  /** Whose CI jobs may read as the user: equal to a token of theirs. */
  "user.manage_publishers": { on: "user", owner: true, recent: true, refusal: "not_found" },

  "organization.create": { on: "installation", everyone: true, refusal: "forbidden" },
  "organization.read_membership": {
    on: "organization",
    isReading: true,
    role: "read",
    operator: true,
    beforeRestrictions: true,
    token: "any",
    refusal: "forbidden",
  },
  /** Who the other members are. One's own membership and the organization's requirements are `read_membership`. */
  "organization.list_members": {
    on: "organization",
    isReading: true,
    role: "read",
    operator: true,
    token: "any",
    refusal: "forbidden",
  },
  "organization.leave": { on: "organization", role: "read", beforeRestrictions: true, refusal: "not_found" },
  "organization.manage": { on: "organization", role: "admin", operator: true, refusal: "forbidden" },
  /** Its sign-in requirements for members, and the identity provider at which they sign in. */
  "organization.manage_security": { on: "organization", role: "admin", operator: true, recent: true, refusal: "forbidden" },
  /** Asking its administrators to allow an app. */
  "organization.ask_for_app": { on: "organization", role: "read", refusal: "not_found" },
  /** Transferring it to another member, and stepping down. */
  "organization.transfer": { on: "organization", role: "admin", recent: true, refusal: "forbidden" },
  "organization.delete": { on: "organization", role: "admin", operator: true, recent: true, refusal: "forbidden" },
  /** Where members were when they did something is for administrators and operators only; no scope lets an app read it. */
  "audit_log.read": { on: "organization", role: "admin", operator: true, token: { own: ["manage-repos"] }, refusal: "forbidden" },
  /** Revoking a member's token. It costs the member only that token's access, and is urgent. */
  "organization.revoke_token": { on: "organization", role: "admin", token: { own: ["manage-repos"] }, refusal: "forbidden" },
  "security_log.read": { on: "user", owner: true, refusal: "not_found" },
  /** Without the user's agreement: administrators invite instead. */
  "organization.add_member": { on: "organization", operator: true, refusal: "forbidden" },
  "organization.set_plan": { on: "organization", operator: true, recent: true, refusal: "forbidden" },
  /** All its repositories' publishers, including those that others created. */
  "organization.list_publishers": { on: "organization", role: "admin", refusal: "forbidden" },

  "oauth_app.create": { on: "oauthApp", owner: true, role: "admin", ...byOwnPrograms, refusal: "forbidden" },
  "oauth_app.read": {
    on: "oauthApp",
    owner: true,
    role: "admin",
    operator: true,
    ...byOwnPrograms,
    refusal: "not_found",
    tellsScope: true,
  },
  "oauth_app.manage": { on: "oauthApp", owner: true, role: "admin", ...byOwnPrograms, refusal: "not_found", tellsScope: true },
  /** Secret, redirect URIs, token duration, deletion: with these, a stolen session or token could take the app over. */
  "oauth_app.manage_security": {
    on: "oauthApp",
    owner: true,
    role: "admin",
    recent: true,
    ...byOwnPrograms,
    refusal: "not_found",
    tellsScope: true,
  },
  /** Verified mark, block, privileges: they decide whom all users here trust. */
  "oauth_app.operate": { on: "oauthApp", operator: true, recent: true, refusal: "not_found" },

  /** That it exists, its settings, its card and the names of its files. */
  "repo.read": {
    on: "repo",
    isReading: true,
    public: "read",
    owner: true,
    role: "read",
    publisher: true,
    token: reads,
    refusal: "not_found",
  },
  /** The content of its files. */
  "repo.read_content": {
    on: "repo",
    isReading: true,
    public: "granted",
    owner: true,
    role: "read",
    publisher: true,
    token: reads,
    refusal: "repo.read",
  },
  "repo.request_access": { on: "repo", public: "signed-in", refusal: "repo.read" },
  /** Withdrawing one's own request, even an accepted one. */
  "access_request.withdraw": { on: "user", owner: true, token: { own: ["gated-repos"] }, refusal: "not_found" },
  "repo.create": {
    on: "namespace",
    owner: true,
    role: "contributor",
    token: { own: ["manage-repos", "contribute-repos"] },
    refusal: "forbidden",
  },
  "repo.write": {
    on: "repo",
    owner: true,
    role: "write",
    maker: "contributor",
    publisher: true,
    token: { own: ["write-repos", "manage-repos"], made: ["contribute-repos"] },
    refusal: "repo.read",
  },
  /** Settings, visibility, rename, transfer, deletion. */
  "repo.manage": {
    on: "repo",
    owner: true,
    role: "write",
    maker: "contributor",
    token: { own: ["manage-repos"] },
    refusal: "repo.read",
  },
  /** Which CI jobs may change content without anyone's token: permanent access. */
  "repo.manage_publishers": {
    on: "repo",
    owner: true,
    role: "write",
    maker: "contributor",
    recent: true,
    refusal: "repo.read",
  },

  /** Opening a discussion or pull request, and commenting. */
  "discussion.write": {
    on: "repo",
    public: "signed-in",
    owner: true,
    role: "read",
    also: "repo.read",
    token: discusses,
    refusal: "repo.read",
  },
  /** Changing the text of a comment: nobody may do it for others. */
  "discussion.edit_comment": { on: "contribution", author: true, also: "repo.read", token: discusses, refusal: "repo.read" },
  /** Changing the title or status of one's own discussion or hiding one's own comments; with write access, those of others too. */
  "discussion.update": {
    on: "contribution",
    author: true,
    owner: true,
    role: "write",
    maker: "contributor",
    also: "repo.read",
    token: discusses,
    refusal: "repo.read",
  },
  /** Pinning, locking, hiding, deletion. */
  "discussion.moderate": {
    on: "repo",
    owner: true,
    role: "write",
    maker: "contributor",
    also: "repo.read",
    token: discusses,
    refusal: "repo.read",
  },
  "discussion.merge": {
    on: "repo",
    owner: true,
    role: "write",
    maker: "contributor",
    also: "repo.write",
    token: discusses,
    refusal: "repo.read",
  },

  "collection.read": {
    on: "collection",
    isReading: true,
    public: "read",
    owner: true,
    role: "read",
    token: { own: ["read-collections", "write-collections"] },
    refusal: "not_found",
  },
  "collection.create": {
    on: "namespace",
    owner: true,
    role: "contributor",
    token: { own: ["write-collections"] },
    refusal: "forbidden",
  },
  "collection.write": {
    on: "collection",
    owner: true,
    role: "write",
    maker: "contributor",
    token: { own: ["write-collections"] },
    refusal: "collection.read",
  },

  /** Asking a model, and on whose account: the user's own, or that of the organization in which an exchanged token acts. */
  "inference.use": {
    on: "namespace",
    owner: true,
    role: "read",
    token: { own: ["inference-api"] },
    refusal: "forbidden",
  },
  "inference.read_usage": { on: "user", owner: true, operator: true, refusal: "not_found" },

  /** How much an owner stores, and their limit. */
  "storage.read": { on: "namespace", isReading: true, owner: true, role: "read", operator: true, refusal: "not_found" },

  /** Webhooks of a user or an organization: what they send, to whom, and the results. */
  "webhook.read": {
    on: "namespace",
    isReading: true,
    owner: true,
    role: "admin",
    token: { own: ["webhooks"] },
    refusal: "not_found",
    tellsScope: true,
  },
  "webhook.manage": {
    on: "namespace",
    owner: true,
    role: "admin",
    token: { own: ["webhooks"] },
    refusal: "not_found",
    tellsScope: true,
  },

  /** Relays belong to a user: whoever listens to one gets what is sent to its URL. */
  "relay.read": {
    on: "user",
    isReading: true,
    owner: true,
    token: { own: ["webhooks"] },
    refusal: "not_found",
    tellsScope: true,
  },
  "relay.manage": { on: "user", owner: true, token: { own: ["webhooks"] }, refusal: "not_found", tellsScope: true },

  /** Runs on a user's or an organization's account, their output and their schedules. */
  "job.read": {
    on: "namespace",
    isReading: true,
    owner: true,
    role: "write",
    token: { own: ["jobs"] },
    refusal: "not_found",
    tellsScope: true,
  },
  "job.run": { on: "namespace", owner: true, role: "write", token: { own: ["jobs"] }, refusal: "not_found", tellsScope: true },

  "installation.operate": { on: "installation", operator: true, refusal: "forbidden" },
  /** Policies, host rules, other services' tokens: they decide what all users here deal with. */
  "installation.configure": { on: "installation", operator: true, recent: true, refusal: "forbidden" },
} as const satisfies Record<string, Rule>;

export type Action = keyof typeof rules;
export type ResourceOf<A extends Action> = Resources[(typeof rules)[A]["on"]];
