import { History } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import { redirect } from "next/navigation";
import type { CommitSummary } from "#core/hub/git/read/commit.ts";
import { readFolder } from "#core/hub/git/read/read-folder.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { ButtonLink } from "../../../../../../_components/button.tsx";
import { Card } from "../../../../../../_components/card.tsx";
import { EmptyState } from "../../../../../../_components/empty-state.tsx";
import { RefreshWhile } from "../../../../../../_components/refresh-while.client.tsx";
import { RelativeTime } from "../../../../../../_components/relative-time.tsx";
import { type PageQuery, textOf } from "../../../../../../_server/page-query.ts";
import { type RepoParams, repoFileHref, repoHref, repoPage } from "../../../../../../_server/repo-page.ts";
import { branchOf, type RevisionParams, revisionOf } from "../../_files/address.ts";
import { CloneMenu } from "../../_files/clone-menu.tsx";
import { EmptyRepository } from "../../_files/empty-repository.tsx";
import { EntryList } from "../../_files/entry-list.tsx";
import { NotOnBranch } from "../../_files/not-on-branch.tsx";
import { orNotFound } from "../../_files/or-not-found.ts";
import { PathTrail } from "../../_files/path-trail.tsx";
import { ReadmeCard } from "../../_files/readme-card.tsx";
import { RevisionChooser } from "../../_files/revision-chooser.tsx";

type Props = Readonly<{ params: RepoParams & RevisionParams; searchParams: PageQuery }>;

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { path, revision } = await revisionOf(params);
  return { title: `${path || "Files"} at ${revision || "HEAD"}` };
}

/** The files of a folder. */
export default async function FolderPage({ params, searchParams }: Props) {
  const [{ repo, mayWrite, mayReadContent }, { revision: name, path }, query] = await Promise.all([
    repoPage(params),
    revisionOf(params),
    searchParams,
  ]);
  if (name === "") redirect(repoFileHref(repo, "tree", repo.defaultBranch));
  const cursor = textOf(query.cursor);
  // The card of a repository is for everybody who sees it; what explains a folder further down is content.
  const withReadme = cursor === "" && (path === "" || mayReadContent);
  const folder = await orNotFound(readFolder(repo, { revision: name, path, cursor, withReadme }));
  const { revision, entries, nextCursor, lastCommit, commitCount, readme } = folder;
  const branch = branchOf(revision);
  const now = new Date();
  return (
    <div className="grid grid-cols-1 gap-4">
      <h2 className="sr-only">Files</h2>
      {folder.isLate && <RefreshWhile seconds={3} />}
      <div className="flex flex-wrap items-center gap-2">
        <RevisionChooser repo={repo} revision={revision} page="tree" path={path} />
        <PathTrail repo={repo} revision={name} path={path} />
        <div className="relative flex flex-wrap items-center gap-2 max-sm:w-full">
          {mayWrite && branch && (
            <>
              <ButtonLink size="small" href={repoFileHref(repo, "new", branch, path)}>
                New file
              </ButtonLink>
              <ButtonLink size="small" href={repoFileHref(repo, "upload", branch, path)}>
                Upload
              </ButtonLink>
            </>
          )}
          <CloneMenu repo={repo} />
        </div>
      </div>
      <NotOnBranch repo={repo} revision={revision} />
      {revision.sha === null ? (
        <EmptyRepository repo={repo} mayWrite={mayWrite} />
      ) : (
        <Card>
          <LastCommit repo={repo} revision={name} path={path} commit={lastCommit} count={commitCount} now={now} />
          {entries.length > 0 ? (
            <EntryList repo={repo} revision={name} path={path} entries={entries} now={now} />
          ) : (
            <EmptyState Icon={History} title="Nothing in it">
              This commit has no files.
            </EmptyState>
          )}
        </Card>
      )}
      {(nextCursor || cursor) && (
        <nav aria-label="Pages of files" className="flex justify-end gap-2">
          {cursor && (
            <ButtonLink size="small" href={repoFileHref(repo, "tree", name, path)}>
              From the start
            </ButtonLink>
          )}
          {nextCursor && (
            <ButtonLink size="small" href={`${repoFileHref(repo, "tree", name, path)}?cursor=${nextCursor}`}>
              More files
            </ButtonLink>
          )}
        </nav>
      )}
      {readme && <ReadmeCard readme={readme} place={{ base: repoHref(repo), revision: name, folder: path }} />}
    </div>
  );
}

type LastCommitProps = Readonly<{
  repo: Repo;
  revision: string;
  path: string;
  commit: CommitSummary | null;
  count: number | null;
  now: Date;
}>;

function LastCommit({ repo, revision, path, commit, count, now }: LastCommitProps) {
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 rounded-t-card border-line border-b bg-sunken px-3 py-2 text-small">
      {commit && (
        <span className="flex min-w-0 flex-1 basis-40 flex-wrap items-center gap-x-2">
          <bdi className="font-medium">{commit.author.name}</bdi>
          <Link
            prefetch={false}
            href={repoHref(repo, "commit", commit.sha)}
            className="wrap-anywhere min-w-0 text-muted hover:underline"
          >
            {commit.title || "(no message)"}
          </Link>
          <span className="text-muted">
            <RelativeTime at={commit.author.at} now={now} />
          </span>
        </span>
      )}
      <Link
        prefetch={false}
        href={repoFileHref(repo, "commits", revision, path)}
        className="inline-flex items-center gap-1.5 hover:underline"
      >
        <History className="size-4 text-muted" aria-hidden="true" />
        {path === "" && count !== null ? `${count.toLocaleString("en")} ${count === 1 ? "commit" : "commits"}` : "History"}
      </Link>
    </div>
  );
}
