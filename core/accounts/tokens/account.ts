import type { OrganizationRole, SecurityRestriction } from "@keyhook/sdk";

export type TokenAccount = {
  id: string;
  username: string;
  fullName: string;
  email: string;
  isEmailVerified: boolean;
  website: string | null;
};

export type TokenOrganization = {
  id: string;
  name: string;
  fullName: string;
  plan: string | null;
  role: OrganizationRole;
  restrictions: SecurityRestriction[];
};

export const ACCOUNT_FIELDS = `'id', u.id, 'username', u.username, 'fullName', u.full_name, 'email', u.email,
  'isEmailVerified', u.email_verified_at IS NOT NULL, 'website', u.website`;

/** An SQL expression for queries from `member_standing m JOIN organization o`. */
export const organizationsJson = (
  tokenId: "t.id" | "g.id",
): string => `coalesce(json_agg(json_build_object('id', o.id, 'name', o.name,
  'fullName', o.full_name, 'plan', o.plan, 'role', m.role, 'restrictions', m.restrictions || CASE WHEN EXISTS (
    SELECT 1 FROM organization_revoked_token x WHERE x.org_id = m.org_id AND x.token_id = ${tokenId})
    THEN ARRAY['token-revoked'] ELSE '{}' END) ORDER BY o.name), '[]')`;
