import type { Resources, Rule, TokenScopes } from "./rule.ts";

const reads = {
  own: ["read-repos", "write-repos", "manage-repos"],
  organization: ["read-repos"],
  made: ["contribute-repos"],
  granted: ["gated-repos"],
} as const satisfies TokenScopes;
/**
 * Writing in the name of the user, wherever they may read. Unlike the scopes for repositories, this scope is not limited to the
 * user's own repositories.
 */
const discusses = {
  own: ["write-discussions"],
  organization: ["write-discussions"],
  public: ["write-discussions"],
} as const satisfies TokenScopes;

/** Those who may write: the owner, an organization's members with the role `write`, and contributors for what they created. */
const writers = { owner: true, role: "write", creator: "contributor" } as const;
const tellsScope = { refusal: "not_found", tellsScope: true } as const;
const byOwnPrograms = { ownPrograms: true, token: { own: ["manage-repos"] } } as const;

/** All access rules, as data. Each door and each operation of core asks `may`; none has a rule of its own (S135). */
export const rules = {
  "user.create": { on: "installation", operator: true, refusal: "forbidden" },
  "user.update": { on: "user", owner: true, refusal: "not_found" },
  "user.change_email": { on: "user", owner: true, recent: true, refusal: "not_found" },
  /** A user's account, sessions and allowed apps, as operators see them. */
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
  /** The publishers whose CI jobs may read as the user: lasting access, as with a personal access token. */
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
  /** The defaults for new repositories. */
  "organization.manage_defaults": {
    on: "organization",
    role: "admin",
    operator: true,
    token: { own: ["manage-repos"] },
    refusal: "forbidden",
  },
  /** The organization's sign-in requirements for members, and the identity provider at which they sign in. */
  "organization.manage_security": { on: "organization", role: "admin", operator: true, recent: true, refusal: "forbidden" },
  /** Asking the organization's administrators to allow an app. */
  "organization.ask_for_app": { on: "organization", role: "read", refusal: "not_found" },
  /** Transferring it to another member, and stepping down. */
  "organization.transfer": { on: "organization", role: "admin", recent: true, refusal: "forbidden" },
  "organization.delete": { on: "organization", role: "admin", operator: true, recent: true, refusal: "forbidden" },
  /** Entries show from where members acted. So only administrators and operators may read them, and no app. */
  "audit_log.read": { on: "organization", role: "admin", operator: true, ...byOwnPrograms, refusal: "forbidden" },
  /** Revoking a member's token. It needs no recent authentication: it is urgent, and the member loses only that token's access. */
  "organization.revoke_token": { on: "organization", role: "admin", ...byOwnPrograms, refusal: "forbidden" },
  "security_log.read": { on: "user", owner: true, refusal: "not_found" },
  /** Adding a member without the user's agreement; administrators invite instead. */
  "organization.add_member": { on: "organization", operator: true, refusal: "forbidden" },
  "organization.set_plan": { on: "organization", operator: true, recent: true, refusal: "forbidden" },
  /** The publishers of all its repositories, including publishers that other members added. */
  "organization.list_publishers": { on: "organization", role: "admin", refusal: "forbidden" },

  "oauth_app.create": { on: "oauthApp", owner: true, role: "admin", ...byOwnPrograms, refusal: "forbidden" },
  "oauth_app.read": { on: "oauthApp", owner: true, role: "admin", operator: true, ...byOwnPrograms, ...tellsScope },
  "oauth_app.manage": { on: "oauthApp", owner: true, role: "admin", ...byOwnPrograms, ...tellsScope },
  /** Secret, redirect URIs, token duration, deletion: with these, a stolen session or token could take the app over. */
  "oauth_app.manage_security": { on: "oauthApp", owner: true, role: "admin", recent: true, ...byOwnPrograms, ...tellsScope },
  /** Verified mark, block and privileges: they affect the trust of all users in an app. */
  "oauth_app.operate": { on: "oauthApp", operator: true, recent: true, refusal: "not_found" },

  /** The repository's existence, settings and card, and the names of its files. */
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
    ...writers,
    publisher: true,
    token: { own: ["write-repos", "manage-repos"], made: ["contribute-repos"] },
    refusal: "repo.read",
  },
  /** Settings, visibility, rename, transfer, deletion. */
  "repo.manage": { on: "repo", ...writers, token: { own: ["manage-repos"] }, refusal: "repo.read" },
  /** The CI jobs that may change content without anybody's token: permanent access. */
  "repo.manage_publishers": { on: "repo", ...writers, recent: true, refusal: "repo.read" },

  /** Opening a discussion or pull request, commenting, and liking the repository. */
  "discussion.write": {
    on: "repo",
    public: "signed-in",
    owner: true,
    role: "read",
    also: "repo.read",
    token: discusses,
    refusal: "repo.read",
  },
  /** Uploading large files for a pull request, at the expense of the user who proposes them. */
  "repo.propose_files": {
    on: "repo",
    public: "signed-in",
    owner: true,
    role: "read",
    also: "repo.read_content",
    token: discusses,
    refusal: "repo.read",
  },
  /** Changing the text of a comment: nobody may change the comments of others. */
  "discussion.edit_comment": { on: "contribution", author: true, also: "repo.read", token: discusses, refusal: "repo.read" },
  /** Changing the title or status of one's own discussion or hiding one's own comments; with write access, those of others too. */
  "discussion.update": {
    on: "contribution",
    author: true,
    ...writers,
    also: "repo.read",
    token: discusses,
    refusal: "repo.read",
  },
  /** Pinning, locking, hiding, deletion. */
  "discussion.moderate": { on: "repo", ...writers, also: "repo.read", token: discusses, refusal: "repo.read" },
  "discussion.merge": { on: "repo", ...writers, also: "repo.write", token: discusses, refusal: "repo.read" },

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
  "collection.write": { on: "collection", ...writers, token: { own: ["write-collections"] }, refusal: "collection.read" },

  /** Requests to a model, on the account of the user, or of the organization in which an exchanged token acts. */
  "inference.use": { on: "namespace", owner: true, role: "read", token: { own: ["inference-api"] }, refusal: "forbidden" },
  "inference.read_usage": { on: "user", owner: true, operator: true, refusal: "not_found" },

  /** The storage that an owner uses, and the owner's limit. */
  "storage.read": { on: "namespace", isReading: true, owner: true, role: "read", operator: true, refusal: "not_found" },

  /** Webhooks of a user or an organization: what they send, to whom, and the results. */
  "webhook.read": { on: "namespace", isReading: true, owner: true, role: "admin", token: { own: ["webhooks"] }, ...tellsScope },
  "webhook.manage": { on: "namespace", owner: true, role: "admin", token: { own: ["webhooks"] }, ...tellsScope },

  /** A relay belongs to a user: its listener gets everything that is sent to its URL. */
  "relay.read": { on: "user", isReading: true, owner: true, token: { own: ["webhooks"] }, ...tellsScope },
  "relay.manage": { on: "user", owner: true, token: { own: ["webhooks"] }, ...tellsScope },

  /** Runs on a user's or an organization's account, their output and their schedules. */
  "job.read": { on: "namespace", isReading: true, owner: true, role: "write", token: { own: ["jobs"] }, ...tellsScope },
  "job.run": { on: "namespace", owner: true, role: "write", token: { own: ["jobs"] }, ...tellsScope },

  "installation.operate": { on: "installation", operator: true, refusal: "forbidden" },
  /** Policies, host rules and other services' tokens: they affect all users. */
  "installation.configure": { on: "installation", operator: true, recent: true, refusal: "forbidden" },
} as const satisfies Record<string, Rule>;

export type Action = keyof typeof rules;
export type ResourceOf<A extends Action> = Resources[(typeof rules)[A]["on"]];
