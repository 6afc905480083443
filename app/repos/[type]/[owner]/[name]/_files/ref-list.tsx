import { GitBranch, Tag } from "lucide-react";
import Link from "next/link";
import { redirect } from "next/navigation";
import type { ReactNode } from "react";
import { describeRefs, type ListedRef, type RefDescription } from "#core/hub/git/read/list-refs.ts";
import { ifInTime } from "#core/hub/git/read/walk.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { ButtonLink } from "../../../../../_components/button.tsx";
import { Chip } from "../../../../../_components/chip.tsx";
import { ConfirmDestructive } from "../../../../../_components/details-form.client.tsx";
import type { FormAction } from "../../../../../_components/form-state.ts";
import { EmptyState, List, ListRow, Pagination } from "../../../../../_components/list.tsx";
import { NavLink } from "../../../../../_components/navigation.client.tsx";
import { Card } from "../../../../../_components/page-layout.tsx";
import { RelativeTime } from "../../../../../_components/relative-time.tsx";
import { SearchForm } from "../../../../../_components/search-form.tsx";
import { hrefWith, type PageQuery, textOf } from "../../../../../_server/page-query.ts";
import { repoFileHref, repoHref } from "../../../../../_server/repo-page.ts";

type RefListProps = Readonly<{
  repo: Repo;
  kind: "branches" | "tags";
  refs: readonly ListedRef[];
  query: Awaited<PageQuery>;
  deleteAction?: (ref: string) => FormAction;
  children?: ReactNode;
}>;

const PAGE_SIZE = 30;
const DESCRIPTIONS_MAX_MS = 5_000;
const words = { branches: "branch", tags: "tag" } as const;

export async function RefList({ repo, kind, refs, query, deleteAction, children }: RefListProps) {
  const search = textOf(query.search).slice(0, 200);
  const wanted = refs.filter(({ name }) => name.toLowerCase().includes(search.trim().toLowerCase()));
  const pages = Math.max(Math.ceil(wanted.length / PAGE_SIZE), 1);
  const page = Math.max(Math.trunc(Number(textOf(query.page))) || 1, 1);
  const hrefOf = (at: number) => hrefWith(repoHref(repo, kind), { search, page: at });
  if (page > pages) redirect(hrefOf(pages));
  const shown = wanted.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE);
  // Reading commits and tags with very long messages may take too long.
  const { value: descriptions } = await ifInTime(describeRefs(repo, shown), DESCRIPTIONS_MAX_MS);
  const now = new Date();
  return (
    <div className="grid grid-cols-1 gap-5">
      <nav aria-label="Branches and tags" className="tab-list sm:border-line sm:border-b">
        {(["branches", "tags"] as const).map((one) => (
          <NavLink key={one} href={repoHref(repo, one)} className="capitalize">
            {one}
          </NavLink>
        ))}
      </nav>
      <h2 className="sr-only capitalize">{kind}</h2>
      {refs.length > PAGE_SIZE && (
        <SearchForm action={repoHref(repo, kind)} label={`Name of the ${words[kind]}`} value={search} />
      )}
      <Card>
        {shown.length === 0 ? (
          <EmptyState
            Icon={kind === "branches" ? GitBranch : Tag}
            title={refs.length > 0 ? `No ${kind} match` : `No ${kind} yet`}
          >
            {refs.length > 0
              ? "Search for another part of the name."
              : kind === "branches"
                ? "The first push creates the first branch."
                : "A tag is a fixed name for a commit, such as v1.0."}
          </EmptyState>
        ) : (
          <List label={kind}>
            {shown.map((ref) => (
              <RefRow
                key={ref.ref}
                repo={repo}
                kind={kind}
                listed={ref}
                description={descriptions?.get(ref.ref)}
                now={now}
                action={deleteAction?.(ref.name)}
              />
            ))}
          </List>
        )}
      </Card>
      <Pagination label={kind} page={page} pageSize={PAGE_SIZE} total={wanted.length} hrefOf={hrefOf} />
      {children}
    </div>
  );
}

type RefRowProps = Readonly<{
  repo: Repo;
  kind: "branches" | "tags";
  listed: ListedRef;
  /** Absent if the ref was deleted meanwhile, or git takes too long. */
  description: RefDescription | undefined;
  now: Date;
  action: FormAction | undefined;
}>;

function RefRow({ repo, kind, listed: { name, targetCommit }, description, now, action }: RefRowProps) {
  const isDefault = kind === "branches" && name === repo.defaultBranch;
  const word = words[kind];
  const { committedAt, message } = description ?? {};
  return (
    <ListRow
      title={
        <>
          <Link prefetch={false} href={repoFileHref(repo, "tree", name)} className="link wrap-anywhere min-w-0">
            {name}
          </Link>
          {isDefault && <Chip>Default</Chip>}
        </>
      }
      meta={
        <>
          {message && <span className="wrap-anywhere block">{message}</span>}
          <Link prefetch={false} href={repoHref(repo, "commit", targetCommit)} className="font-mono hover:underline">
            {targetCommit.slice(0, 10)}
          </Link>
          {committedAt && (
            <>
              {" · "}
              <RelativeTime at={committedAt} now={now} />
            </>
          )}
        </>
      }
      trailing={
        kind === "branches" &&
        !isDefault && (
          <ButtonLink size="small" href={repoHref(repo, "compare", `${repo.defaultBranch}...${name}`)}>
            Compare<span className="sr-only"> {name}</span>
          </ButtonLink>
        )
      }
      actions={
        action &&
        !isDefault && (
          <ConfirmDestructive
            action={action}
            size="small"
            trigger={`Delete ${word}`}
            title={
              <>
                Delete the {word} <bdi>{name}</bdi>?
              </>
            }
            confirm={`Delete ${name}`}
          >
            {kind === "branches"
              ? "Commits that are not on another branch or tag are lost."
              : "Links to this name will no longer work."}
          </ConfirmDestructive>
        )
      }
    />
  );
}
