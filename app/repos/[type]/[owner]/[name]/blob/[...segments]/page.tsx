import type { Metadata } from "next";
import Link from "next/link";
import { redirect } from "next/navigation";
import { viewFile } from "#core/hub/git/read/view-file.ts";
import { ButtonLink, buttonClass } from "../../../../../../_components/button.tsx";
import { RefreshWhile } from "../../../../../../_components/refresh-while.client.tsx";
import { RelativeTime } from "../../../../../../_components/relative-time.tsx";
import { type PageQuery, textOf } from "../../../../../../_server/page-query.ts";
import { type RepoParams, repoFileHref, repoHref, repoPage } from "../../../../../../_server/repo-page.ts";
import { branchOf, type RevisionParams, revisionOf } from "../../_files/address.ts";
import { byteSize } from "../../_files/byte-size.ts";
import { FileContent, isMarkdownName } from "../../_files/file-content.tsx";
import { NotOnBranch } from "../../_files/not-on-branch.tsx";
import { orNotFound } from "../../_files/or-not-found.ts";
import { PathTrail } from "../../_files/path-trail.tsx";
import { RevisionChooser } from "../../_files/revision-chooser.tsx";

type Props = Readonly<{ params: RepoParams & RevisionParams; searchParams: PageQuery }>;

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { path, revision } = await revisionOf(params);
  return { title: `${path} at ${revision}` };
}

/** A file, as its kind can be shown. */
export default async function FilePage({ params, searchParams }: Props) {
  const [{ repo, mayWrite, mayReadContent }, { revision: name, path }, query] = await Promise.all([
    repoPage(params),
    revisionOf(params),
    searchParams,
  ]);
  if (path === "") redirect(repoFileHref(repo, "tree", name));
  const file = await orNotFound(viewFile(repo, { revision: name, path, withContent: mayReadContent }));
  const { revision, sha, entry, lastCommit, text } = file;
  const branch = branchOf(revision);
  const isSource = textOf(query.plain) === "1";
  const here = repoFileHref(repo, "blob", name, path);
  const lines = text === null ? null : text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
  return (
    <div className="grid grid-cols-1 gap-4">
      <h2 className="sr-only">{entry.name}</h2>
      {file.isLate && <RefreshWhile seconds={3} />}
      <div className="flex flex-wrap items-center gap-2">
        <RevisionChooser repo={repo} revision={revision} page="blob" path={path} />
        <PathTrail repo={repo} revision={name} path={path} />
      </div>
      <NotOnBranch repo={repo} revision={revision} />
      <section aria-label={entry.name} className="rounded-card border border-line bg-surface">
        <header className="flex flex-wrap items-center gap-x-3 gap-y-2 border-line border-b px-3 py-2 text-small sm:px-4">
          <p className="min-w-0 flex-1 basis-40 text-muted">
            {byteSize(entry.size)}
            {lines !== null && ` · ${lines.toLocaleString("en")} ${lines === 1 ? "line" : "lines"}`}
            {lastCommit && (
              <>
                {" · "}
                <Link prefetch={false} href={repoHref(repo, "commit", lastCommit.sha)} className="link">
                  {lastCommit.title || "(no message)"}
                </Link>{" "}
                <RelativeTime at={lastCommit.author.at} />
              </>
            )}
          </p>
          <div className="flex flex-wrap gap-2">
            {text !== null && isMarkdownName(entry.name) && (
              <ButtonLink size="small" href={isSource ? here : `${here}?plain=1`}>
                {isSource ? "As read" : "As written"}
              </ButtonLink>
            )}
            {mayReadContent && (
              // Not a page of ours: the browser itself goes there.
              <a href={repoFileHref(repo, "resolve", name, path)} className={buttonClass({ size: "small", variant: "quiet" })}>
                Raw
              </a>
            )}
            <ButtonLink size="small" variant="quiet" href={repoFileHref(repo, "commits", name, path)}>
              History
            </ButtonLink>
            {revision.ref !== null && (
              <ButtonLink size="small" variant="quiet" href={repoFileHref(repo, "blob", sha, path)}>
                Permalink
              </ButtonLink>
            )}
            {mayWrite && branch && (
              <>
                {text !== null && (
                  <ButtonLink size="small" href={repoFileHref(repo, "edit", branch, path)}>
                    Edit
                  </ButtonLink>
                )}
                <ButtonLink size="small" variant="danger" href={repoFileHref(repo, "delete", branch, path)}>
                  Delete
                </ButtonLink>
              </>
            )}
          </div>
        </header>
        <FileContent repo={repo} revision={name} file={file} mayReadContent={mayReadContent} isSource={isSource} />
      </section>
    </div>
  );
}
