/** Roles in an organization, from least to most. */
export const organizationRoles = ["read", "contributor", "write", "admin"] as const;
export type OrganizationRole = (typeof organizationRoles)[number];

/** Whether `role` includes everything that `least` may do. */
export function isRoleAtLeast(role: OrganizationRole, least: OrganizationRole): boolean {
  return organizationRoles.indexOf(role) >= organizationRoles.indexOf(least);
}
