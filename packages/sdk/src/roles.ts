/** Roles in an organization, from least to most. */
export const organizationRoles = ["read", "contributor", "write", "admin"] as const;
export type OrganizationRole = (typeof organizationRoles)[number];

/** Whether `role` includes everything that `least` may do. */
export function isRoleAtLeast(role: OrganizationRole, least: OrganizationRole): boolean {
  return organizationRoles.indexOf(role) >= organizationRoles.indexOf(least);
}

/**
 * Why a member does not reach what is an organization's own (docs/specification/oauth.md#userinfo): a second step or its sign-in is not
 * met, or its administrators have cut this token off.
 */
export const securityRestrictions = ["mfa", "sso", "token-revoked"] as const;
export type SecurityRestriction = (typeof securityRestrictions)[number];
