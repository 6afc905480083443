import type { OrganizationRole, Scope } from "@keyhook/sdk";

/** What an action is done to, in the few facts that a decision needs. */
export type Resources = {
  /** The service itself. */
  installation: null;
  user: { userId: string };
  organization: { orgId: string };
  /** An OAuth app, owned by a user or by an organization. */
  oauthApp: { ownerUserId: string | null; ownerOrgId: string | null };
};

export type Rule = {
  on: keyof Resources;
  /** Everybody who is signed in. */
  everyone?: true;
  /** The user that the resource is or belongs to. */
  owner?: true;
  /** Members, from this role upwards, of the organization that the resource is or belongs to. */
  role?: OrganizationRole;
  /** Operators of the service. */
  operator?: true;
  /** Whether the person must have proved who they are a short while ago (S113). */
  recent?: true;
  /** What a token needs besides its person's right, `any` for no scope in particular; without it tokens are refused. */
  token?: Scope | "any";
  /** How a refusal is answered: what may not be seen must not be told apart from what does not exist (S136). */
  refusal: "forbidden" | "not_found";
};

/** The whole of who may do what, as data. Each door and each operation of core asks `may`, none has a rule of its own (S135). */
export const rules = {
  "user.create": { on: "installation", operator: true, refusal: "forbidden" },
  "user.update": { on: "user", owner: true, refusal: "not_found" },
  "user.change_email": { on: "user", owner: true, recent: true, refusal: "not_found" },
  "user.disable": { on: "user", operator: true, refusal: "not_found" },
  "user.set_operator": { on: "user", operator: true, recent: true, refusal: "not_found" },
  "user.delete": { on: "user", owner: true, operator: true, recent: true, refusal: "not_found" },
  "personal_access_token.list": { on: "user", owner: true, refusal: "not_found" },
  "personal_access_token.create": { on: "user", owner: true, recent: true, refusal: "not_found" },
  "personal_access_token.revoke": { on: "user", owner: true, operator: true, refusal: "not_found" },

  "organization.create": { on: "installation", everyone: true, refusal: "forbidden" },
  "organization.read_membership": { on: "organization", role: "read", operator: true, token: "any", refusal: "forbidden" },
  "organization.leave": { on: "organization", role: "read", refusal: "not_found" },
  "organization.manage": { on: "organization", role: "admin", operator: true, refusal: "forbidden" },
  /** Without asking the user: administrators invite instead. */
  "organization.add_member": { on: "organization", operator: true, refusal: "forbidden" },
  "organization.set_plan": { on: "organization", operator: true, refusal: "forbidden" },

  "oauth_app.create": { on: "oauthApp", owner: true, role: "admin", refusal: "forbidden" },
  "oauth_app.read": { on: "oauthApp", owner: true, role: "admin", operator: true, refusal: "not_found" },
  "oauth_app.manage": { on: "oauthApp", owner: true, role: "admin", refusal: "not_found" },
  /** Secret, redirect URIs, token duration, deletion: what would let a stolen session take the app over. */
  "oauth_app.manage_security": { on: "oauthApp", owner: true, role: "admin", recent: true, refusal: "not_found" },
  /** Verified mark, block, privileges: what decides whom everybody here trusts. */
  "oauth_app.operate": { on: "oauthApp", operator: true, recent: true, refusal: "not_found" },

  "installation.operate": { on: "installation", operator: true, refusal: "forbidden" },
  /** Policies, host rules, other services' tokens: what decides whom everybody here may meet. */
  "installation.configure": { on: "installation", operator: true, recent: true, refusal: "forbidden" },
} as const satisfies Record<string, Rule>;

export type Action = keyof typeof rules;
export type ResourceOf<A extends Action> = Resources[(typeof rules)[A]["on"]];
