import { isRoleAtLeast } from "@keyhook/sdk";
import { listOrganizations } from "#core/accounts/organizations/list-organizations.ts";
import type { SiteSession } from "./session.ts";

export type OwnerChoice = Readonly<{ value: string; label: string }>;

/** Under whose name somebody may put a repository: their own, and those of the organizations where they may create one. */
export async function ownerChoices({ id, username }: SiteSession["user"]): Promise<OwnerChoice[]> {
  const organizations = await listOrganizations(id);
  return [
    { value: username, label: `${username} (you)` },
    ...organizations.filter(({ role }) => isRoleAtLeast(role, "contributor")).map(({ name }) => ({ value: name, label: name })),
  ];
}
