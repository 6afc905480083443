import { notFound } from "next/navigation";
import { type Person, personActor } from "#core/access/actor.ts";
import { organizationsOf } from "#core/access/organizations-of.ts";
import { listOrganizations } from "#core/accounts/organizations/find-organization.ts";
import { requireOrganizationPage } from "./organization-page.ts";
import type { PageQuery } from "./page-query.ts";
import { type OwnerName, settingsPath } from "./paths.ts";
import { requireSession } from "./session.ts";

/** Both `/settings` and `/organizations/<org>/settings` have these pages. Without `org`, a page is the user's own. */
export type OwnerPageProps<Params extends object = object> = Readonly<{
  params: Promise<Readonly<Params & { org?: string }>>;
  searchParams: PageQuery;
}>;

export type OwnerPage = Readonly<{
  person: Person;
  owner: Readonly<{ kind: "user" | "organization"; id: string; handle: string }>;
  /** Null for the user's own page. */
  home: OwnerName;
  /** Null for the user's own page. */
  fullName: string | null;
  page: string;
}>;

/** 404 for users who may not see the page (S136). @param home may have any value @param page the path below the settings */
export async function findOwnerPage(
  home: OwnerName,
  page: string,
  mayEnter: (person: Person, organizationId: string) => Promise<boolean>,
): Promise<OwnerPage> {
  if (home === null) {
    const at = settingsPath(null, page);
    const session = await requireSession(at);
    const owner = { kind: "user", id: session.userId, handle: session.user.username } as const;
    return { person: personActor(session), owner, home, fullName: null, page: at };
  }
  const { person, organization } = await requireOrganizationPage(home);
  const { id, name, fullName } = organization;
  if (!(await mayEnter(person, id))) notFound();
  return { person, owner: { kind: "organization", id, handle: name }, home: name, fullName, page: settingsPath(name, page) };
}

export type OwnerChoice = Readonly<{ value: string; label: string }>;

export async function ownerChoices(person: Person, username: string): Promise<OwnerChoice[]> {
  const organizations = await organizationNames(person, "repo.create");
  return [{ value: username, label: `${username} (you)` }, ...organizations.map((name) => ({ value: name, label: name }))];
}

export async function organizationNames(person: Person, action: "repo.create" | "collection.create"): Promise<string[]> {
  const [organizations, allowed] = await Promise.all([listOrganizations(person.userId), organizationsOf(person, action)]);
  return organizations.filter(({ id }) => allowed.includes(id)).map(({ name }) => name);
}
