import type { Account, FindAccount } from "oidc-provider";
import { avatarUrl } from "#core/accounts/avatar.ts";
import type { TokenOrganization } from "#core/accounts/tokens/account.ts";
import { pool } from "#core/db.ts";
import { env } from "#core/env.ts";
import { type AccountRow, requestRows } from "../artifacts/request-rows.ts";

/** See docs/specification/oauth.md#id-token and #userinfo. Only granted organizations appear (S103). */
export const claimsByScope = {
  // Clients expect auth_time and amr (RFC 8176) in every ID token (docs/specification/oauth.md#id-token).
  openid: ["sub", "auth_time", "amr", "isPro", "organizations", "orgs"],
  profile: ["name", "preferred_username", "profile", "picture", "website"],
  email: ["email", "email_verified"],
  "read-billing": ["canPay", "billingMode"],
} as const;

const profileUrl = (handle: string): string => `${env().ORIGIN}/${encodeURIComponent(handle)}`;

export function personClaims(account: AccountRow) {
  return {
    sub: account.id,
    name: account.fullName,
    preferred_username: account.username,
    profile: profileUrl(account.username),
    picture: avatarUrl(account.username),
    website: account.website ?? undefined,
    email: account.email,
    email_verified: account.isEmailVerified,
  };
}

/** See docs/specification/oauth.md#userinfo. */
function organizationClaim(organization: TokenOrganization, hasBilling: boolean) {
  return {
    sub: organization.id,
    name: organization.fullName,
    picture: avatarUrl(organization.name),
    preferred_username: organization.name,
    ...(organization.plan && { plan: organization.plan }),
    // `canPay` stays private while the member does not meet the organization's requirements.
    ...(hasBilling && organization.restrictions.length === 0 && { canPay: false }),
    roleInOrg: organization.role,
    isEnterprise: organization.plan === "enterprise",
    securityRestrictions: organization.restrictions,
    resourceGroups: [],
  };
}

function userinfoClaims(account: AccountRow, organizations: TokenOrganization[], scope: string) {
  const hasBilling = scope.split(" ").includes("read-billing");
  const orgs = organizations.map((organization) => organizationClaim(organization, hasBilling));
  return { ...personClaims(account), isPro: false, canPay: false, billingMode: "prepaid", organizations: orgs, orgs };
}

const FIND = `SELECT id, username, full_name AS "fullName", email, email_verified_at IS NOT NULL AS "isEmailVerified", website
  FROM "user" WHERE id = $1 AND disabled_at IS NULL`;

/** Finds no disabled user (S49, S112). */
export const findAccount: FindAccount = async (_ctx, id) => {
  const account = requestRows().accounts.get(id) ?? (await readAccount(id));
  return account && toEngineAccount(account);
};

async function readAccount(id: string): Promise<AccountRow | undefined> {
  const { rows } = await pool().query<AccountRow>({ name: "account-find", text: FIND, values: [id] });
  return rows[0];
}

function toEngineAccount(account: AccountRow): Account {
  return {
    accountId: account.id,
    claims: async (use, scope) =>
      use === "userinfo" ? userinfoClaims(account, account.organizations ?? [], scope) : personClaims(account),
  };
}
