import { GitCommitHorizontal } from "lucide-react";
import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { findAuthors } from "#core/hub/git/read/commit.ts";
import { listCommits } from "#core/hub/git/read/list-commits.ts";
import { EmptyState, List, Pagination } from "../../../../../../_components/list.tsx";
import { Card } from "../../../../../../_components/page-layout.tsx";
import { fileOrNotFound } from "../../../../../../_server/or-not-found.ts";
import { type PageQuery, textOf } from "../../../../../../_server/page-query.ts";
import { type RepoParams, repoFileHref, repoPage } from "../../../../../../_server/repo-page.ts";
import { byDay, CommitRow } from "../../_files/commit-rows.tsx";
import { NotOnBranch, PathTrail, type RevisionParams, revisionOf } from "../../_files/path-trail.tsx";
import { RevisionChooser } from "../../_files/revision-chooser.tsx";

type Props = Readonly<{ params: RepoParams & RevisionParams; searchParams: PageQuery }>;

const PAGE_SIZE = 30;

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { path, revision } = await revisionOf(params);
  return { title: `Commits ${path ? `of ${path} ` : ""}at ${revision || "HEAD"}` };
}

export default async function CommitsPage({ params, searchParams }: Props) {
  const [{ repo }, { revision: name, path }, query] = await Promise.all([repoPage(params), revisionOf(params), searchParams]);
  if (name === "") redirect(repoFileHref(repo, "commits", repo.defaultBranch));
  const asked = Math.max(Math.trunc(Number(textOf(query.page))) || 1, 1);
  const found = await fileOrNotFound(listCommits(repo, { revision: name, path, page: asked - 1, limit: PAGE_SIZE }));
  const { revision, commits, total } = found;
  const href = (page: number) => `${repoFileHref(repo, "commits", name, path)}${page > 1 ? `?page=${page}` : ""}`;
  if (commits.length === 0 && total > 0) redirect(href(Math.ceil(total / PAGE_SIZE)));
  const authors = await findAuthors(commits.map(({ author }) => author.email));
  const now = new Date();
  return (
    <div className="grid grid-cols-1 gap-4">
      <h2 className="sr-only">Commits</h2>
      <div className="flex flex-wrap items-center gap-2">
        <RevisionChooser repo={repo} revision={revision} page="commits" path={path} />
        <PathTrail repo={repo} revision={name} path={path} />
      </div>
      <NotOnBranch repo={repo} revision={revision} />
      {commits.length === 0 && (
        <Card>
          <EmptyState Icon={GitCommitHorizontal} title="No commits yet">
            Commits pushed to {name} will appear here.
          </EmptyState>
        </Card>
      )}
      {byDay(commits).map(({ day, commits }) => (
        <section key={commits[0]?.sha} aria-label={day} className="grid gap-2">
          <h3 className="text-muted text-small">{day}</h3>
          <Card>
            <List>
              {commits.map((commit) => (
                <CommitRow key={commit.sha} repo={repo} commit={commit} account={authors.get(commit.author.email)} now={now} />
              ))}
            </List>
          </Card>
        </section>
      ))}
      <Pagination label="commits" page={found.page + 1} pageSize={PAGE_SIZE} total={total} hrefOf={href} />
    </div>
  );
}
