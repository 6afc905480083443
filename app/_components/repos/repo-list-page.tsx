import type { RepoType } from "@keyhook/sdk";
import Link from "next/link";
import { anonymous, personActor } from "#core/access/actor.ts";
import { isServiceError } from "#core/errors.ts";
import { type RepoList as Listed, listRepos, type RepoQuery } from "#core/hub/repos/list-repos.ts";
import { hrefWith, type PageQuery, textOf } from "../../_server/page-query.ts";
import { repoListHref } from "../../_server/repo-page.ts";
import { currentSession } from "../../_server/session.ts";
import { ButtonLink } from "../button.tsx";
import { Select } from "../fields.client.tsx";
import { EmptyState } from "../list.tsx";
import { Card, FormMessage, PageHeader } from "../page-layout.tsx";
import { SearchForm } from "../search-form.tsx";
import { SiteFrame } from "../site-frame.tsx";
import { RepoList } from "./repo-list.tsx";
import { repoTypeLooks } from "./repo-types.ts";

const orders = [
  { value: "updated", label: "Last change" },
  { value: "created", label: "Newest" },
];

export async function RepoListPage({ type, query }: Readonly<{ type: RepoType; query: Awaited<PageQuery> }>) {
  const session = await currentSession();
  const { Icon, word, words } = repoTypeLooks[type];
  const path = repoListHref(type);
  const [search, tag, after] = [textOf(query.search).trim(), textOf(query.tag).trim(), textOf(query.after)];
  const sort = textOf(query.sort) === "created" ? "created" : "updated";
  const list = await listOrNothing(session ? personActor(session) : anonymous, {
    type,
    sort,
    ...(search && { search }),
    ...(tag && { tags: [tag] }),
    ...(after && { cursor: after }),
  });
  const hrefAfter = (cursor?: string) => hrefWith(path, { search, tag, ...(sort !== "updated" && { sort }), after: cursor });
  const isFiltered = search !== "" || tag !== "" || after !== "";
  return (
    <SiteFrame width="page">
      <PageHeader
        title={words}
        actions={session && <ButtonLink href={`/new?type=${type}`}>{`New ${word.toLowerCase()}`}</ButtonLink>}
      />
      <div className="grid gap-4">
        <SearchForm action={path} label="Name, or owner/name" value={search}>
          {tag && <input type="hidden" name="tag" value={tag} />}
          <div className="w-full sm:w-44">
            <Select name="sort" label="Order" options={orders} defaultValue={sort} />
          </div>
        </SearchForm>
        {tag && (
          <p className="text-small">
            With the tag <strong className="break-words">{tag}</strong>.{" "}
            <Link prefetch={false} href={hrefWith(path, { search })} className="link">
              Show all
            </Link>
          </p>
        )}
        {list === undefined && <FormMessage tone="bad">This URL is not valid. Search again.</FormMessage>}
        <Card>
          {list && list.repos.length > 0 ? (
            <RepoList label={words} repos={list.repos} />
          ) : (
            <EmptyState
              Icon={Icon}
              title={isFiltered ? `No ${words.toLowerCase()} match` : `No ${words.toLowerCase()} yet`}
              action={
                isFiltered ? (
                  <ButtonLink href={path}>{`Show all ${words.toLowerCase()}`}</ButtonLink>
                ) : (
                  session && <ButtonLink href={`/new?type=${type}`}>{`New ${word.toLowerCase()}`}</ButtonLink>
                )
              }
            >
              {isFiltered
                ? "Search for part of the name, or for owner/name. Results include only repositories that you can see."
                : `${words} visible to you appear here.`}
            </EmptyState>
          )}
        </Card>
        {(after || list?.nextCursor) && (
          <nav aria-label={`Pages of ${words}`} className="flex justify-end gap-2">
            {after && (
              <ButtonLink size="small" href={hrefAfter()}>
                First page
              </ButtonLink>
            )}
            {list?.nextCursor && (
              <ButtonLink size="small" href={hrefAfter(list.nextCursor)}>
                Next
              </ButtonLink>
            )}
          </nav>
        )}
      </div>
    </SiteFrame>
  );
}

/** Returns undefined for an invalid query, because users may type a URL by hand. */
async function listOrNothing(actor: Parameters<typeof listRepos>[0], wanted: RepoQuery): Promise<Listed | undefined> {
  try {
    return await listRepos(actor, wanted);
  } catch (error) {
    if (isServiceError(error) && error.code === "invalid_request") return undefined;
    throw error;
  }
}
