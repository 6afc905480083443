import { type Actor, anonymous, personActor } from "#core/access/actor.ts";
import { may } from "#core/access/may.ts";
import { searchHandles } from "#core/accounts/handles/find-owner.ts";
import { listOrganizations } from "#core/accounts/organizations/find-organization.ts";
import { searchDocs } from "#core/docs/search-docs.ts";
import { isServiceError } from "#core/errors.ts";
import { listRepos } from "#core/hub/repos/list-repos.ts";
import { repoTypeLooks } from "../_components/repos/repo-types.ts";
import type { FoundGroup, FoundItem } from "../_components/search-palette.client.tsx";
import type { NavSections } from "../_components/side-frame.tsx";
import { adminSections } from "../admin/sections.ts";
import { instanceFilling } from "../docs/reader.ts";
import { settingsSections } from "../settings/sections.ts";
import { organizationPath } from "./organization-page.ts";
import { repoHref } from "./repo-page.ts";
import { currentSession } from "./session.ts";

const DOCS_MAX = 5;

export async function findEverything(search: string, limit: number): Promise<FoundGroup[]> {
  if (search === "") return [];
  const session = await currentSession();
  const actor = session ? personActor(session) : anonymous;
  const [pages, repos, owners, docs] = await Promise.all([
    ownPages(actor, search),
    reposNamed(actor, search, limit),
    searchHandles(search, { limit }),
    searchDocs(search, instanceFilling(), []),
  ]);
  return [
    { label: "Pages", items: pages },
    { label: "Repositories", items: repos },
    {
      label: "People and organizations",
      items: owners.map(({ handle, fullName }) => ({
        href: `/${handle}`,
        label: fullName || handle,
        hint: fullName ? handle : "",
      })),
    },
    {
      label: "Docs",
      items: docs
        .slice(0, DOCS_MAX)
        .map(({ href, page, heading, excerpt }) => ({ href, label: heading ?? page, hint: page, excerpt })),
    },
  ].flatMap(({ label, items }) => (items.length > 0 ? [{ label, items: items.slice(0, limit) }] : []));
}

const browse: NavSections = [
  {
    label: "Browse",
    pages: [
      { href: "/models", label: "Models" },
      { href: "/datasets", label: "Datasets" },
      { href: "/spaces", label: "Spaces" },
      { href: "/collections", label: "Collections" },
      { href: "/docs", label: "Docs" },
    ],
  },
];
const create: NavSections = [
  {
    label: "Create",
    pages: [
      { href: "/new", label: "New repository" },
      { href: "/organizations/new", label: "New organization" },
      { href: "/collections/new", label: "New collection" },
      { href: "/settings/applications/new", label: "New OAuth app" },
      { href: "/settings/webhooks/new", label: "New webhook" },
      { href: "/settings/tokens/new", label: "New access token" },
      { href: "/settings/jobs/new", label: "New job" },
    ],
  },
];

async function ownPages(actor: Actor, search: string): Promise<FoundItem[]> {
  const words = search.toLowerCase().split(/\s+/);
  const [organizations, isOperator] =
    actor.kind === "person"
      ? await Promise.all([listOrganizations(actor.userId), may(actor, "installation.operate", null)])
      : [[], false];
  const own = organizations.map(({ name, fullName }) => ({ href: organizationPath(name), label: fullName }));
  const sections = [
    ...namedPages("", browse),
    ...(actor.kind === "person" ? [...namedPages("", create), ...namedPages("Settings", settingsSections)] : []),
    ...own.map((page) => ({ ...page, hint: "Your organizations" })),
    ...(isOperator ? namedPages("Administration", adminSections) : []),
  ];
  return sections.filter(({ label, hint }) => words.every((word) => `${label} ${hint}`.toLowerCase().includes(word)));
}

const namedPages = (of: string, sections: NavSections): FoundItem[] =>
  sections.flatMap(({ label: section, pages }) => pages.map(({ href, label }) => ({ href, label, hint: of || section })));

async function reposNamed(actor: Actor, search: string, limit: number): Promise<FoundItem[]> {
  try {
    const { repos } = await listRepos(actor, { search, limit });
    return repos.map((repo) => ({ href: repoHref(repo), label: repo.fullName, hint: repoTypeLooks[repo.type].word }));
  } catch (error) {
    // Text that cannot be a name has no results.
    if (isServiceError(error) && error.code === "invalid_request") return [];
    throw error;
  }
}
