import type { OrganizationRole, Scope } from "@keyhook/sdk";

/** What an action is done to, in the few facts that a decision needs. */
export type Resources = {
  /** The service itself. */
  installation: null;
  user: { userId: string };
  organization: { orgId: string };
  /** An OAuth app, owned by a user or by an organization. */
  oauthApp: { ownerUserId: string | null; ownerOrgId: string | null };
  /** Whose repositories or collections: a user's or an organization's. */
  namespace: Owner;
  repo: RepoResource;
  /** A discussion, a pull request or a comment, in its repository. */
  contribution: { repo: RepoResource; authorId: string | null };
  collection: Made;
};

export type Owner = { ownerUserId: string | null; ownerOrgId: string | null };

/** What somebody made under an owner's name. */
export type Made = Owner & {
  isPrivate: boolean;
  createdById: string | null;
  createdByClientId: string | null;
};

export type RepoResource = Made & { repoId: string; isGated: boolean };

export type Rule = {
  on: keyof Resources;
  /** Everybody who is signed in. */
  everyone?: true;
  /**
   * Of what is public, everybody: `read` also those who are not signed in; `granted` the same, but of a gated repository only
   * those whose request for access was accepted; `signed-in` whoever has an account.
   */
  public?: "read" | "granted" | "signed-in";
  /** The user that the resource is or belongs to. */
  owner?: true;
  /** Members, from this role upwards, of the organization that the resource is or belongs to. */
  role?: OrganizationRole;
  /** Members may also who have not yet met what the organization asks of them, such as a second step. */
  beforeRestrictions?: true;
  /** The member who made it, from this role upwards: a `contributor` of an organization has the run of their own work. */
  maker?: OrganizationRole;
  /** Whoever wrote it. */
  author?: true;
  /** What must be allowed as well. */
  also?: "repo.read" | "repo.write";
  /** Operators of the service. */
  operator?: true;
  /** A job of continuous integration that is trusted with the repository. */
  publisher?: true;
  /**
   * It changes nothing, and may be decided by where the person stood when their token was looked up. Whatever changes something is
   * decided by what holds then: a push may have been under way for an hour.
   */
  isReading?: true;
  /** Whether the person must have proved who they are a short while ago (S113). */
  recent?: true;
  /**
   * Only for programs of the person's own: with a token that they made for themselves, or that the service's own command line got. An
   * app that was let in must not make or take over others, which would outlive it being sent away.
   */
  ownPrograms?: true;
  /** What a token needs besides its person's right, `any` for no scope in particular; without it tokens are refused. */
  token?: "any" | TokenScopes;
  /**
   * How a refusal is answered: what may not be seen must not be told apart from what does not exist (S136). The name of an action
   * stands for either: `not_found` for those who may not even do that.
   */
  refusal: "forbidden" | "not_found" | "repo.read" | "collection.read";
  /**
   * With `not_found`: a token that lacks nothing but the scope is told so (docs/specification/errors-and-limits.md#missing-scope). Its
   * person has the right, and what it is for is found by the person's own name or by an id that nobody guesses.
   */
  tellsScope?: true;
};

/**
 * The scopes of which a token needs one, by what gives its person the right (docs/specification/oauth.md#scopes). What is absent or
 * empty cannot be done with a token that way.
 */
export type TokenScopes = {
  /** The person owns it; and all that a token of their own making (a personal access token) reaches. */
  own?: readonly Scope[];
  /**
   * An organization owns it, which the person has granted to the app
   * (docs/specification/oauth.md#organizations-in-an-authorization-request).
   */
  organization?: readonly Scope[];
  /** The app itself made it. */
  made?: readonly Scope[];
  /** It is public and gated, and the person was let in. */
  granted?: readonly Scope[];
  /** It is public, and takes an account. */
  public?: readonly Scope[];
};

const reads = {
  own: ["read-repos", "write-repos", "manage-repos"],
  organization: ["read-repos"],
  made: ["contribute-repos"],
  granted: ["gated-repos"],
} as const satisfies TokenScopes;
/** On behalf of the user, wherever they may read: the scope is not for what is theirs alone, as those for repositories are. */
const discusses = {
  own: ["write-discussions"],
  organization: ["write-discussions"],
  public: ["write-discussions"],
} as const satisfies TokenScopes;

const byOwnPrograms = { ownPrograms: true, token: { own: ["manage-repos"] } } as const;

/** The whole of who may do what, as data. Each door and each operation of core asks `may`, none has a rule of its own (S135). */
export const rules = {
  "user.create": { on: "installation", operator: true, refusal: "forbidden" },
  "user.update": { on: "user", owner: true, refusal: "not_found" },
  "user.change_email": { on: "user", owner: true, recent: true, refusal: "not_found" },
  /** Who they are, where they are signed in and what they let in, as operators see it. */
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
  /** For somebody who is locked out. */
  "second_step.reset": { on: "user", operator: true, recent: true, refusal: "not_found" },
  "personal_access_token.list": { on: "user", owner: true, refusal: "not_found" },
  "personal_access_token.create": { on: "user", owner: true, recent: true, refusal: "not_found" },
  "personal_access_token.revoke": { on: "user", owner: true, operator: true, refusal: "not_found" },

  "user.list_publishers": { on: "user", owner: true, refusal: "not_found" },
  /** Whose jobs may read as the user: as good as a token of theirs. */
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
  /** Who else is in it. That one is in it oneself, and what it asks, is `read_membership`. */
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
  /** What it asks of its members' sign-in, and where they prove who they are. */
  "organization.manage_security": { on: "organization", role: "admin", operator: true, recent: true, refusal: "forbidden" },
  /** Asking its administrators to let an app in. */
  "organization.ask_for_app": { on: "organization", role: "read", refusal: "not_found" },
  /** Handing it over to another member, and stepping down. */
  "organization.transfer": { on: "organization", role: "admin", recent: true, refusal: "forbidden" },
  "organization.delete": { on: "organization", role: "admin", operator: true, recent: true, refusal: "forbidden" },
  /** Where members were when they did something is for those who look after them; no scope lets an app read it. */
  "audit_log.read": { on: "organization", role: "admin", operator: true, token: { own: ["manage-repos"] }, refusal: "forbidden" },
  /** Cutting a member's token off. It takes nothing from the member but that token's way in, and hurries. */
  "organization.revoke_token": { on: "organization", role: "admin", token: { own: ["manage-repos"] }, refusal: "forbidden" },
  "security_log.read": { on: "user", owner: true, refusal: "not_found" },
  /** Without asking the user: administrators invite instead. */
  "organization.add_member": { on: "organization", operator: true, refusal: "forbidden" },
  "organization.set_plan": { on: "organization", operator: true, recent: true, refusal: "forbidden" },
  /** Of all its repositories, those that others made too. */
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
  /** Secret, redirect URIs, token duration, deletion: what would let a stolen session, or a stolen token, take the app over. */
  "oauth_app.manage_security": {
    on: "oauthApp",
    owner: true,
    role: "admin",
    recent: true,
    ...byOwnPrograms,
    refusal: "not_found",
    tellsScope: true,
  },
  /** Verified mark, block, privileges: what decides whom everybody here trusts. */
  "oauth_app.operate": { on: "oauthApp", operator: true, recent: true, refusal: "not_found" },

  /** That it is there, its settings, its card and the names of its files. */
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
  /** What is in its files. */
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
  /** Taking one's own request back, an accepted one too. */
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
  /** Settings, who may read it, another name or owner, deletion. */
  "repo.manage": {
    on: "repo",
    owner: true,
    role: "write",
    maker: "contributor",
    token: { own: ["manage-repos"] },
    refusal: "repo.read",
  },
  /** Whose jobs may change content, with nobody's token: a way in that stays. */
  "repo.manage_publishers": {
    on: "repo",
    owner: true,
    role: "write",
    maker: "contributor",
    recent: true,
    refusal: "repo.read",
  },

  /** Opening one, a pull request too, and commenting. */
  "discussion.write": {
    on: "repo",
    public: "signed-in",
    owner: true,
    role: "read",
    also: "repo.read",
    token: discusses,
    refusal: "repo.read",
  },
  /** Putting other words into a comment: nobody speaks for others. */
  "discussion.edit_comment": { on: "contribution", author: true, also: "repo.read", token: discusses, refusal: "repo.read" },
  /** Changing one's own title or status or hiding one's own words, or those of others where one may write. */
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

  /** Asking a model, on whose account it goes: the person's own, or that of the organization that an exchanged token acts in. */
  "inference.use": {
    on: "namespace",
    owner: true,
    role: "read",
    token: { own: ["inference-api"] },
    refusal: "forbidden",
  },
  "inference.read_usage": { on: "user", owner: true, operator: true, refusal: "not_found" },

  /** How much an owner stores, and of how much. */
  "storage.read": { on: "namespace", isReading: true, owner: true, role: "read", operator: true, refusal: "not_found" },

  /** Webhooks of a person or an organization: what they tell, whom, and what became of it. */
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

  /** Relays are a person's own: whoever listens to one gets what is sent to its address. */
  "relay.read": {
    on: "user",
    isReading: true,
    owner: true,
    token: { own: ["webhooks"] },
    refusal: "not_found",
    tellsScope: true,
  },
  "relay.manage": { on: "user", owner: true, token: { own: ["webhooks"] }, refusal: "not_found", tellsScope: true },

  /** Runs on the account of a person or an organization, their output and their schedules. */
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
  /** Policies, host rules, other services' tokens: what decides whom everybody here may meet. */
  "installation.configure": { on: "installation", operator: true, recent: true, refusal: "forbidden" },
} as const satisfies Record<string, Rule>;

export type Action = keyof typeof rules;
export type ResourceOf<A extends Action> = Resources[(typeof rules)[A]["on"]];
