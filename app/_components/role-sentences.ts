import type { OrganizationRole } from "@keyhook/sdk";

/** What each role in an organization may do, after "may". */
export const roleSentences: Record<OrganizationRole, string> = {
  read: "see what is private to the organization",
  contributor: "create repositories there and change those that they created",
  write: "change every repository there",
  admin: "change everything there, members and settings too",
};

/** The same to the person themselves, after "you may". */
export const yourRoleSentences: Record<OrganizationRole, string> = {
  ...roleSentences,
  contributor: "create repositories there and change those that you created",
};
