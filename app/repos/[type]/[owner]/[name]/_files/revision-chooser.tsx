import { ChevronDown, GitBranch, GitCommitHorizontal, Tag } from "lucide-react";
import Link from "next/link";
import { type ListedRef, listRefs } from "#core/hub/git/read/list-refs.ts";
import type { Revision } from "#core/hub/git/read/revision.ts";
import { ifInTime } from "#core/hub/git/read/walk.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { Disclosure } from "../../../../../_components/disclosure.client.tsx";
import { repoFileHref, repoHref } from "../../../../../_server/repo-page.ts";

type RevisionChooserProps = Readonly<{
  repo: Repo;
  revision: Revision;
  page: "tree" | "blob" | "commits";
  path: string;
}>;

const SHOWN = 30;
/** The list of refs must not delay the file or folder. */
const REFS_MAX_MS = 2_000;

export async function RevisionChooser({ repo, revision, page, path }: RevisionChooserProps) {
  const { value: refs } = await ifInTime(listRefs(repo), REFS_MAX_MS);
  const { ref, name } = revision;
  const Icon = ref === null ? GitCommitHorizontal : ref.startsWith("refs/tags/") ? Tag : GitBranch;
  const label = shownName(revision, repo);
  const group = (title: string, refs: readonly ListedRef[] | undefined, all: "branches" | "tags") => (
    <Group
      title={title}
      refs={refs}
      current={ref}
      hrefOf={(one) => repoFileHref(repo, page, one.name, path)}
      allHref={repoHref(repo, all)}
    />
  );
  return (
    // A new key closes the menu after a navigation.
    <Disclosure
      key={`${page} ${name} ${path}`}
      className="relative"
      look={{ size: "small" }}
      triggerClass="max-w-60 sm:max-w-80"
      trigger={
        <>
          <Icon className="size-4 shrink-0 text-muted" aria-hidden="true" />
          <span className="sr-only">{ref === null ? "Commit" : ref.startsWith("refs/tags/") ? "Tag" : "Branch"}: </span>
          <span className="truncate">{label}</span>
          <ChevronDown className="size-4 shrink-0 text-muted" aria-hidden="true" />
        </>
      }
    >
      <div className="absolute top-full left-0 z-10 mt-1 grid max-h-96 w-72 gap-3 overflow-y-auto rounded-card border border-line bg-surface p-3 text-small shadow-menu">
        {!refs && (
          <p className="px-2 text-muted">
            Listing the branches and tags took too long. Reload the page, or open one of the lists below.
          </p>
        )}
        {group("Branches", refs?.branches, "branches")}
        {refs?.tags.length !== 0 && group("Tags", refs?.tags, "tags")}
      </div>
    </Disclosure>
  );
}

function shownName({ ref, name, sha }: Revision, repo: Pick<Repo, "defaultBranch">): string {
  if (ref === null) return (sha ?? name).slice(0, 10);
  return name === "HEAD" ? repo.defaultBranch : ref.replace(/^refs\/(heads|tags)\//, "");
}

type GroupProps = Readonly<{
  title: string;
  /** Absent if git was too slow. */
  refs: readonly ListedRef[] | undefined;
  current: string | null;
  hrefOf: (ref: ListedRef) => string;
  allHref: string;
}>;

function Group({ title, refs, current, hrefOf, allHref }: GroupProps) {
  return (
    <section aria-label={title}>
      <p className="mb-1 px-2 text-fine text-muted">{title}</p>
      {refs?.length === 0 && <p className="px-2 text-muted">None yet.</p>}
      <ul>
        {refs?.slice(0, SHOWN).map((one) => (
          <li key={one.ref}>
            <Link
              prefetch={false}
              href={hrefOf(one)}
              aria-current={one.ref === current || undefined}
              className="wrap-anywhere block rounded-control px-2 py-1 hover:bg-sunken aria-current:font-medium"
            >
              {one.name}
            </Link>
          </li>
        ))}
      </ul>
      <Link prefetch={false} href={allHref} className="link mt-1 ml-2 inline-block text-muted">
        All {title.toLowerCase()}
      </Link>
    </section>
  );
}
