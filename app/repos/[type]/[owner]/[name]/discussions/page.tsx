import { Lock, MessageSquare, MessagesSquare, Pin } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import type { Discussion } from "#core/hub/discussions/discussion.ts";
import { type DiscussionFilter, listDiscussions } from "#core/hub/discussions/find-discussion.ts";
import { ButtonLink } from "../../../../../_components/button.tsx";
import { Select } from "../../../../../_components/fields.client.tsx";
import { EmptyState, List, ListRow, Pagination } from "../../../../../_components/list.tsx";
import { Card, FormMessage } from "../../../../../_components/page-layout.tsx";
import { RelativeTime } from "../../../../../_components/relative-time.tsx";
import { SearchForm } from "../../../../../_components/search-form.tsx";
import { type PageQuery, textOf } from "../../../../../_server/page-query.ts";
import { type RepoParams, repoHref, repoPage } from "../../../../../_server/repo-page.ts";
import { AuthorName, StatusIcon } from "./status-chip.tsx";

type Props = Readonly<{ params: RepoParams; searchParams: PageQuery }>;

export const metadata: Metadata = { title: "Discussions" };

const kinds = ["all", "discussion", "pull_request"] as const;
const kindWords = { all: "Everything", discussion: "Discussions", pull_request: "Pull requests" } as const;

export default async function DiscussionsPage({ params, searchParams }: Props) {
  const [{ repo, actor }, query] = await Promise.all([repoPage(params), searchParams]);
  const kind = kinds.find((one) => one === textOf(query.type)) ?? "all";
  const status = textOf(query.status) === "closed" ? "closed" : "open";
  const search = textOf(query.search).trim();
  const name = { type: repo.type, owner: repo.owner.handle, name: repo.name };
  const filter: DiscussionFilter = { kind, status, search, author: textOf(query.author) };
  const { items, page, pageSize, total, counts } = await listDiscussions(actor, name, filter, {
    page: Number(textOf(query.page)),
  });
  const base = repoHref(repo, "discussions");
  const hrefOf = (changes: Record<string, string>) => {
    const all = { type: kind, status, search, author: textOf(query.author), ...changes };
    const kept = Object.entries(all).filter(([, value]) => value !== "" && value !== "all" && value !== "open");
    return kept.length === 0 ? base : `${base}?${new URLSearchParams(kept)}`;
  };
  const isFiltered = search !== "" || kind !== "all" || textOf(query.author) !== "";
  return (
    <div className="grid gap-4">
      <header className="flex flex-wrap items-center justify-between gap-3">
        <h2 className="text-title">Discussions</h2>
        {repo.hasDiscussions && repo.platformId === null && (
          <div className="flex flex-wrap gap-2">
            <ButtonLink variant="primary" href={`${base}/new`}>
              New discussion
            </ButtonLink>
            <ButtonLink href={`${base}/new?kind=pull-request`}>New pull request</ButtonLink>
          </div>
        )}
      </header>
      {textOf(query.notice) === "deleted" && <FormMessage tone="good">Deleted.</FormMessage>}
      {!repo.hasDiscussions && (
        <FormMessage>
          Discussions and pull requests are disabled: nobody can open new ones. Existing ones can still be read, commented on and
          merged.
        </FormMessage>
      )}
      <SearchForm action={base} label="Title" value={search}>
        <input type="hidden" name="status" value={status} />
        <div className="w-full sm:w-44">
          <Select
            name="type"
            label="Show"
            defaultValue={kind}
            options={kinds.map((one) => ({ value: one, label: kindWords[one] }))}
          />
        </div>
      </SearchForm>
      <Card>
        <nav aria-label="Status" className="flex flex-wrap gap-x-5 gap-y-1 border-line border-b px-4 py-2.5 text-small sm:px-5">
          {(["open", "closed"] as const).map((one) => (
            <Link
              key={one}
              prefetch={false}
              href={hrefOf({ status: one })}
              aria-current={one === status ? "true" : undefined}
              className={one === status ? "font-medium text-ink" : "text-muted hover:text-ink"}
            >
              {counts[one].toLocaleString("en")} {one === "open" ? "open" : "closed"}
            </Link>
          ))}
        </nav>
        {items.length === 0 ? (
          <Nothing isFiltered={isFiltered} isClosed={status === "closed"} base={base} />
        ) : (
          <List label="Discussions and pull requests">
            {items.map((discussion) => (
              <Row key={discussion.id} discussion={discussion} href={`${base}/${discussion.num}`} />
            ))}
          </List>
        )}
      </Card>
      <Pagination
        label="discussions"
        {...{ page, pageSize, total }}
        hrefOf={(number) => hrefOf(number > 1 ? { page: String(number) } : {})}
      />
    </div>
  );
}

function Row({ discussion, href }: Readonly<{ discussion: Discussion; href: string }>) {
  const { num, title, author, createdAt, commentCount, isPinned, isLocked } = discussion;
  return (
    <ListRow
      leading={<StatusIcon discussion={discussion} />}
      title={
        <>
          <Link prefetch={false} href={href} className="min-w-0 break-words hover:underline">
            {title}
          </Link>
          {isPinned && <Pin className="size-4 text-muted" role="img" aria-label="Pinned" />}
          {isLocked && <Lock className="size-4 text-muted" role="img" aria-label="Locked" />}
        </>
      }
      meta={
        <>
          #{num} opened <RelativeTime at={createdAt} /> by <AuthorName author={author} />
        </>
      }
      trailing={
        commentCount > 0 && (
          <span className="inline-flex items-center gap-1.5 text-muted text-small">
            <MessageSquare className="size-4" aria-hidden="true" />
            {commentCount.toLocaleString("en")}
            <span className="sr-only">{commentCount === 1 ? "comment" : "comments"}</span>
          </span>
        )
      }
    />
  );
}

type NothingProps = Readonly<{ isFiltered: boolean; isClosed: boolean; base: string }>;

function Nothing({ isFiltered, isClosed, base }: NothingProps) {
  if (isFiltered) {
    return (
      <EmptyState Icon={MessagesSquare} title="No discussions match" action={<ButtonLink href={base}>Show all</ButtonLink>}>
        No {isClosed ? "closed" : "open"} discussions match. Search the {isClosed ? "open" : "closed"} ones, or use other words.
      </EmptyState>
    );
  }
  if (isClosed) {
    return (
      <EmptyState Icon={MessagesSquare} title="Nothing closed">
        Closed discussions and closed or merged pull requests appear here.
      </EmptyState>
    );
  }
  return (
    <EmptyState Icon={MessagesSquare} title="Nothing open">
      Ask a question, report a problem, or propose a change as a pull request.
    </EmptyState>
  );
}
