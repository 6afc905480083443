/** Roles in an organization, from the fewest permissions to the most. @group Users and organizations */
export const organizationRoles = ["read", "contributor", "write", "admin"] as const;
export type OrganizationRole = (typeof organizationRoles)[number];

/** Whether `role` allows everything that `least` allows. @group Users and organizations */
export function isRoleAtLeast(role: OrganizationRole, least: OrganizationRole): boolean {
  return organizationRoles.indexOf(role) >= organizationRoles.indexOf(least);
}

/**
 * Why a member has no access to an organization's resources (docs/specification/oauth.md#userinfo): a second step or a sign-in with the
 * organization's issuer is missing, or its administrators have revoked this token's access.
 * @group Users and organizations
 */
export const securityRestrictions = ["mfa", "sso", "token-revoked"] as const;
export type SecurityRestriction = (typeof securityRestrictions)[number];
