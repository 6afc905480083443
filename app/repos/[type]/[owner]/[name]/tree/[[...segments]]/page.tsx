import { BookOpen, CornerDownRight, File, FileSymlink, Folder, FolderGit2, History, type LucideIcon } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import { redirect } from "next/navigation";
import type { CommitSummary } from "#core/hub/git/read/commit.ts";
import { type Readme, readFolder } from "#core/hub/git/read/read-folder.ts";
import type { Entry, EntryType } from "#core/hub/git/read/tree-entries.ts";
import type { MarkdownContext } from "#core/hub/markdown/resolve-addresses.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { readableSize } from "#core/readable-size.ts";
import { ButtonLink } from "../../../../../../_components/button.tsx";
import { Chip } from "../../../../../../_components/chip.tsx";
import { EmptyState } from "../../../../../../_components/list.tsx";
import { Markdown, PlainReadme } from "../../../../../../_components/markdown.tsx";
import { Card } from "../../../../../../_components/page-layout.tsx";
import { RefreshWhile } from "../../../../../../_components/refresh-while.client.tsx";
import { RelativeTime } from "../../../../../../_components/relative-time.tsx";
import { fileOrNotFound } from "../../../../../../_server/or-not-found.ts";
import { type PageQuery, textOf } from "../../../../../../_server/page-query.ts";
import { type RepoParams, repoFileHref, repoHref, repoPage } from "../../../../../../_server/repo-page.ts";
import { EmptyRepository } from "../../_files/empty-repository.tsx";
import { branchOf, CloneMenu, NotOnBranch, PathTrail, type RevisionParams, revisionOf } from "../../_files/path-trail.tsx";
import { RevisionChooser } from "../../_files/revision-chooser.tsx";

type Props = Readonly<{ params: RepoParams & RevisionParams; searchParams: PageQuery }>;

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { path, revision } = await revisionOf(params);
  return { title: `${path || "Files"} at ${revision || "HEAD"}` };
}

export default async function FolderPage({ params, searchParams }: Props) {
  const [{ repo, session, mayWrite, mayReadContent }, { revision: name, path }, query] = await Promise.all([
    repoPage(params),
    revisionOf(params),
    searchParams,
  ]);
  if (name === "") redirect(repoFileHref(repo, "tree", repo.defaultBranch));
  const cursor = textOf(query.cursor);
  const folder = await fileOrNotFound(readFolder(repo, { revision: name, path, cursor, mayReadContent }));
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
        <EmptyRepository page={{ repo, mayWrite, session }} />
      ) : (
        <Card>
          <LastCommit repo={repo} revision={name} path={path} commit={lastCommit} count={commitCount} now={now} />
          {entries.length > 0 ? (
            <EntryList repo={repo} revision={name} path={path} entries={entries} now={now} />
          ) : (
            <EmptyState Icon={History} title="Empty">
              This commit has no files.
            </EmptyState>
          )}
        </Card>
      )}
      {(nextCursor || cursor) && (
        <nav aria-label="Pages of files" className="flex justify-end gap-2">
          {cursor && (
            <ButtonLink size="small" href={repoFileHref(repo, "tree", name, path)}>
              First page
            </ButtonLink>
          )}
          {nextCursor && (
            <ButtonLink size="small" href={`${repoFileHref(repo, "tree", name, path)}?cursor=${nextCursor}`}>
              More files
            </ButtonLink>
          )}
        </nav>
      )}
      {readme && <ReadmeCard readme={readme} context={{ base: repoHref(repo), revision: name, folder: path }} />}
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

type EntryListProps = Readonly<{
  repo: Repo;
  revision: string;
  path: string;
  entries: readonly Entry[];
  now: Date;
}>;

const icons: Record<EntryType, LucideIcon> = { directory: Folder, file: File, symlink: FileSymlink, submodule: FolderGit2 };
const words: Record<EntryType, string> = { directory: "folder", file: "file", symlink: "symbolic link", submodule: "submodule" };

function EntryList({ repo, revision, path, entries, now }: EntryListProps) {
  return (
    <table className="entries">
      <colgroup>
        <col />
        <col className="w-24 sm:w-32" />
        <col className="hidden md:table-column" />
        <col className="hidden w-36 sm:table-column" />
      </colgroup>
      <thead className="sr-only">
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Size</th>
          <th scope="col">Last commit</th>
          <th scope="col">When</th>
        </tr>
      </thead>
      <tbody>
        {path !== "" && (
          <tr>
            <td colSpan={4}>
              <Link prefetch={false} href={repoFileHref(repo, "tree", revision, parentOf(path))}>
                <CornerDownRight className="-scale-x-100" aria-hidden="true" />
                <span>
                  ..<span className="sr-only"> (the folder above)</span>
                </span>
              </Link>
            </td>
          </tr>
        )}
        {entries.map((entry) => (
          <EntryRow key={entry.path} repo={repo} revision={revision} entry={entry} now={now} />
        ))}
      </tbody>
    </table>
  );
}

function EntryRow({ repo, revision, entry, now }: Readonly<{ repo: Repo; revision: string; entry: Entry; now: Date }>) {
  const { type, path, name, size, lfs, lastCommit } = entry;
  const Icon = icons[type];
  const label = (
    <>
      <Icon aria-hidden="true" />
      <span className="name">
        <bdi>{name}</bdi>
        <span className="sr-only"> ({words[type]})</span>
      </span>
    </>
  );
  return (
    <tr>
      <td>
        {type === "submodule" ? (
          <span>{label}</span>
        ) : (
          <Link prefetch={false} href={repoFileHref(repo, type === "directory" ? "tree" : "blob", revision, path)}>
            {label}
          </Link>
        )}
      </td>
      <td>
        {lfs && (
          <span className="mr-2 hidden sm:inline">
            <Chip>LFS</Chip>
          </span>
        )}
        {type === "file" && readableSize(size)}
      </td>
      <td>
        {lastCommit && (
          <Link prefetch={false} href={repoHref(repo, "commit", lastCommit.sha)}>
            {lastCommit.title || "(no message)"}
          </Link>
        )}
      </td>
      <td>{lastCommit && <RelativeTime at={lastCommit.author.at} now={now} />}</td>
    </tr>
  );
}

const parentOf = (path: string): string => path.split("/").slice(0, -1).join("/");

function ReadmeCard({ readme, context }: Readonly<{ readme: Readme; context: MarkdownContext }>) {
  return (
    <section aria-label={readme.name} className="rounded-card border border-line bg-surface">
      <header className="flex items-center gap-2 border-line border-b px-4 py-2.5 text-small">
        <BookOpen className="size-4 text-muted" aria-hidden="true" />
        <bdi className="font-medium">{readme.name}</bdi>
      </header>
      <div className="px-4 py-5 sm:px-6">
        {readme.isMarkdown ? <Markdown text={readme.text} context={context} /> : <PlainReadme text={readme.text} />}
      </div>
    </section>
  );
}
