import type { Person } from "#core/access/actor.ts";
import { organizationsOf } from "#core/access/organizations-of.ts";
import { listOrganizations } from "#core/accounts/organizations/list-organizations.ts";

export type OwnerChoice = Readonly<{ value: string; label: string }>;

/** Under whose name somebody may put a repository: their own, and those of the organizations where they may create one. */
export async function ownerChoices(person: Person, username: string): Promise<OwnerChoice[]> {
  const organizations = await organizationNames(person, "repo.create");
  return [{ value: username, label: `${username} (you)` }, ...organizations.map((name) => ({ value: name, label: name }))];
}

/** The organizations in whose name somebody may make something, by name. */
export async function organizationNames(person: Person, action: "repo.create" | "collection.create"): Promise<string[]> {
  const [organizations, allowed] = await Promise.all([listOrganizations(person.userId), organizationsOf(person, action)]);
  return organizations.filter(({ id }) => allowed.includes(id)).map(({ name }) => name);
}
