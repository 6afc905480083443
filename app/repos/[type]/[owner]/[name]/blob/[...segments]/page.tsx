import { Download, FileQuestion, Lock } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import { redirect } from "next/navigation";
import { contentTypeOf } from "#core/hub/git/read/content-type.ts";
import { type ViewedFile, viewFile } from "#core/hub/git/read/find-file.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { readableSize } from "#core/readable-size.ts";
import { ButtonLink, buttonClass } from "../../../../../../_components/button.tsx";
import { CodeView } from "../../../../../../_components/code-view.tsx";
import { CopyField } from "../../../../../../_components/copyable.tsx";
import { EmptyState } from "../../../../../../_components/list.tsx";
import { Markdown } from "../../../../../../_components/markdown.tsx";
import { RefreshWhile } from "../../../../../../_components/refresh-while.client.tsx";
import { RelativeTime } from "../../../../../../_components/relative-time.tsx";
import { fileOrNotFound } from "../../../../../../_server/or-not-found.ts";
import { type PageQuery, textOf } from "../../../../../../_server/page-query.ts";
import { type RepoParams, repoFileHref, repoHref, repoPage } from "../../../../../../_server/repo-page.ts";
import { isMarkdownName } from "../../_editing/editing-page.ts";
import { branchOf, NotOnBranch, PathTrail, type RevisionParams, revisionOf } from "../../_files/path-trail.tsx";
import { RevisionChooser } from "../../_files/revision-chooser.tsx";

type Props = Readonly<{ params: RepoParams & RevisionParams; searchParams: PageQuery }>;

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { path, revision } = await revisionOf(params);
  return { title: `${path} at ${revision}` };
}

export default async function FilePage({ params, searchParams }: Props) {
  const [{ repo, mayWrite, mayReadContent }, { revision: name, path }, query] = await Promise.all([
    repoPage(params),
    revisionOf(params),
    searchParams,
  ]);
  if (path === "") redirect(repoFileHref(repo, "tree", name));
  const file = await fileOrNotFound(viewFile(repo, { revision: name, path, withContent: mayReadContent }));
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
            {readableSize(entry.size)}
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
                {isSource ? "Preview" : "Source"}
              </ButtonLink>
            )}
            {mayReadContent && (
              // A plain `<a>`, because the link leads to a file, not to a page.
              <a href={repoFileHref(repo, "resolve", name, path)} className={buttonClass({ size: "small", variant: "quiet" })}>
                Raw
              </a>
            )}
            {mayReadContent && isPicture(file) && (
              <a
                href={`${repoFileHref(repo, "resolve", name, path)}?download=true`}
                className={buttonClass({ size: "small", variant: "quiet" })}
              >
                Download
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

type FileContentProps = Readonly<{
  repo: Repo;
  revision: string;
  file: ViewedFile;
  mayReadContent: boolean;
  isSource: boolean;
}>;

const PICTURE_MAX_BYTES = 20 * 1024 * 1024;

function FileContent({ repo, revision, file, mayReadContent, isSource }: FileContentProps) {
  const { entry, text } = file;
  if (!mayReadContent) {
    return (
      <EmptyState
        Icon={Lock}
        title="Access to this content is restricted"
        action={<ButtonLink href={repoHref(repo)}>How to get access</ButtonLink>}
      >
        You can see the file names. Only people with access can see the content.
      </EmptyState>
    );
  }
  if (entry.type === "symlink" && text !== null) {
    return (
      <p className="px-4 py-5">
        A symbolic link to <code className="wrap-anywhere">{text}</code>
      </p>
    );
  }
  if (text === "") return <p className="px-4 py-5 text-muted">This file is empty.</p>;
  if (text !== null && isMarkdownName(entry.name) && !isSource) {
    const folder = entry.path.split("/").slice(0, -1).join("/");
    return (
      <div className="px-4 py-5 sm:px-6">
        <Markdown text={text} context={{ base: repoHref(repo), revision, folder }} />
      </div>
    );
  }
  if (text !== null) return <CodeView text={text} name={entry.name} />;
  const href = repoFileHref(repo, "resolve", revision, entry.path);
  if (isPicture(file)) {
    return (
      <>
        <div className="rounded-b-card bg-sunken p-4">
          {/* biome-ignore lint/performance/noImgElement: a file of a repository, as it is */}
          <img src={href} alt={entry.name} className="mx-auto max-h-160 max-w-full" />
        </div>
        <Checksum file={file} />
      </>
    );
  }
  return <Weight href={href} file={file} />;
}

const isImage = ({ entry, bytes }: ViewedFile): boolean =>
  contentTypeOf(entry.name, entry.lfs ? undefined : bytes).kind === "image";
const isPicture = (file: ViewedFile): boolean => isImage(file) && file.entry.size <= PICTURE_MAX_BYTES;

function reason(file: ViewedFile): string {
  const { entry, bytes } = file;
  if (isImage(file)) return "This image is too large to show";
  if (entry.lfs) return "This file is stored in Git LFS";
  return bytes ? "This file is not text" : "This file is too large to show";
}

function Weight({ href, file }: Readonly<{ href: string; file: ViewedFile }>) {
  const { size } = file.entry;
  return (
    <>
      <EmptyState
        Icon={FileQuestion}
        title={reason(file)}
        action={
          <a href={`${href}?download=true`} className={buttonClass({ variant: "primary" })}>
            <Download className="size-4" aria-hidden="true" />
            Download
          </a>
        }
      >
        {readableSize(size)}
        {size >= 1000 && ` (${size.toLocaleString("en")} bytes)`}
      </EmptyState>
      <Checksum file={file} />
    </>
  );
}

function Checksum({ file: { entry } }: Readonly<{ file: ViewedFile }>) {
  if (!entry.lfs) return null;
  return (
    <div className="px-4 py-5 sm:px-5">
      <CopyField label="SHA-256" value={entry.lfs.oid} />
    </div>
  );
}
