import type { Resources, Rule, TokenScopes } from "./rule.ts";

const reads = {
  own: ["read-repos", "write-repos", "manage-repos"],
  organization: ["read-repos"],
  made: ["contribute-repos"],
  granted: ["gated-repos"],
} as const satisfies TokenScopes;
const discusses = {
  own: ["write-discussions"],
  organization: ["write-discussions"],
  public: ["write-discussions"],
} as const satisfies TokenScopes;

const writers = { owner: true, role: "write", creator: "contributor" } as const;
const tellsScope = { refusal: "not_found", tellsScope: true } as const;
const byOwnPrograms = { ownPrograms: true, token: { own: ["manage-repos"] } } as const;

/** All rules are here. Doors and core only ask `may` (S135). */
export const rules = {
  "user.create": { on: "installation", operator: true, refusal: "forbidden" },
  "user.update": { on: "user", owner: true, refusal: "not_found" },
  "user.change_email": { on: "user", owner: true, recent: true, refusal: "not_found" },
  "user.inspect": { on: "user", operator: true, refusal: "not_found" },
  "user.disable": { on: "user", operator: true, recent: true, refusal: "not_found" },
  "user.end_sessions": { on: "user", operator: true, recent: true, refusal: "not_found" },
  "user.set_operator": { on: "user", operator: true, recent: true, refusal: "not_found" },
  "user.delete": { on: "user", owner: true, operator: true, recent: true, refusal: "not_found" },
  "user.set_password": { on: "user", owner: true, recent: true, refusal: "not_found" },
  "linked_identity.link": { on: "user", owner: true, recent: true, refusal: "not_found" },
  "linked_identity.unlink": { on: "user", owner: true, recent: true, refusal: "not_found" },
  "second_step.manage": { on: "user", owner: true, recent: true, refusal: "not_found" },
  "second_step.reset": { on: "user", operator: true, recent: true, refusal: "not_found" },
  "personal_access_token.list": { on: "user", owner: true, refusal: "not_found" },
  "personal_access_token.create": { on: "user", owner: true, recent: true, refusal: "not_found" },
  "personal_access_token.revoke": { on: "user", owner: true, operator: true, refusal: "not_found" },

  "user.list_publishers": { on: "user", owner: true, refusal: "not_found" },
  /** A publisher gets lasting access, as a personal access token does. */
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
  /** To see one's own membership and the organization's requirements, `read_membership` is enough. */
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
  "organization.manage_defaults": {
    on: "organization",
    role: "admin",
    operator: true,
    token: { own: ["manage-repos"] },
    refusal: "forbidden",
  },
  "organization.manage_security": { on: "organization", role: "admin", operator: true, recent: true, refusal: "forbidden" },
  "organization.ask_for_app": { on: "organization", role: "read", refusal: "not_found" },
  "organization.transfer": { on: "organization", role: "admin", recent: true, refusal: "forbidden" },
  "organization.delete": { on: "organization", role: "admin", operator: true, recent: true, refusal: "forbidden" },
  /** Own programs only, because entries show the IP addresses of members. */
  "audit_log.read": { on: "organization", role: "admin", operator: true, ...byOwnPrograms, refusal: "forbidden" },
  /** Revoking is urgent, so it needs no recent authentication. */
  "organization.revoke_token": { on: "organization", role: "admin", ...byOwnPrograms, refusal: "forbidden" },
  "security_log.read": { on: "user", owner: true, refusal: "not_found" },
  /** An operator adds members without their agreement. Administrators send invitations instead. */
  "organization.add_member": { on: "organization", operator: true, refusal: "forbidden" },
  "organization.set_plan": { on: "organization", operator: true, recent: true, refusal: "forbidden" },
  "organization.list_publishers": { on: "organization", role: "admin", refusal: "forbidden" },

  "oauth_app.create": { on: "oauthApp", owner: true, role: "admin", ...byOwnPrograms, refusal: "forbidden" },
  "oauth_app.read": { on: "oauthApp", owner: true, role: "admin", operator: true, ...byOwnPrograms, ...tellsScope },
  "oauth_app.manage": { on: "oauthApp", owner: true, role: "admin", ...byOwnPrograms, ...tellsScope },
  /** Requires recent authentication, because a stolen session or token could otherwise take the app over. */
  "oauth_app.manage_security": { on: "oauthApp", owner: true, role: "admin", recent: true, ...byOwnPrograms, ...tellsScope },
  "oauth_app.operate": { on: "oauthApp", operator: true, recent: true, refusal: "not_found" },

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
  "repo.manage": { on: "repo", ...writers, token: { own: ["manage-repos"] }, refusal: "repo.read" },
  "repo.manage_publishers": { on: "repo", ...writers, recent: true, refusal: "repo.read" },

  "discussion.write": {
    on: "repo",
    public: "signed-in",
    owner: true,
    role: "read",
    also: "repo.read",
    token: discusses,
    refusal: "repo.read",
  },
  /** The files count towards the storage of the user who proposes them. */
  "repo.propose_files": {
    on: "repo",
    public: "signed-in",
    owner: true,
    role: "read",
    also: "repo.read_content",
    token: discusses,
    refusal: "repo.read",
  },
  "discussion.edit_comment": { on: "contribution", author: true, also: "repo.read", token: discusses, refusal: "repo.read" },
  /** Without write access, only the user's own contributions can be changed. */
  "discussion.update": {
    on: "contribution",
    author: true,
    ...writers,
    also: "repo.read",
    token: discusses,
    refusal: "repo.read",
  },
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

  "inference.use": { on: "namespace", owner: true, role: "read", token: { own: ["inference-api"] }, refusal: "forbidden" },
  "inference.read_usage": { on: "user", owner: true, operator: true, refusal: "not_found" },

  "storage.read": { on: "namespace", isReading: true, owner: true, role: "read", operator: true, refusal: "not_found" },

  "webhook.read": { on: "namespace", isReading: true, owner: true, role: "admin", token: { own: ["webhooks"] }, ...tellsScope },
  "webhook.manage": { on: "namespace", owner: true, role: "admin", token: { own: ["webhooks"] }, ...tellsScope },

  /** A relay's listener gets everything that is sent to the relay's URL. */
  "relay.read": { on: "user", isReading: true, owner: true, token: { own: ["webhooks"] }, ...tellsScope },
  "relay.manage": { on: "user", owner: true, token: { own: ["webhooks"] }, ...tellsScope },

  "job.read": { on: "namespace", isReading: true, owner: true, role: "write", token: { own: ["jobs"] }, ...tellsScope },
  "job.run": { on: "namespace", owner: true, role: "write", token: { own: ["jobs"] }, ...tellsScope },

  "installation.operate": { on: "installation", operator: true, refusal: "forbidden" },
  "installation.configure": { on: "installation", operator: true, recent: true, refusal: "forbidden" },
} as const satisfies Record<string, Rule>;

export type Action = keyof typeof rules;
export type ResourceOf<A extends Action> = Resources[(typeof rules)[A]["on"]];
