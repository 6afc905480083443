import { Download, FileQuestion, Lock } from "lucide-react";
import { contentTypeOf } from "#core/hub/git/read/content-type.ts";
import type { ViewedFile } from "#core/hub/git/read/view-file.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { ButtonLink, buttonClass } from "../../../../../_components/button.tsx";
import { CodeView } from "../../../../../_components/code/code-view.tsx";
import { CopyField } from "../../../../../_components/copy-field.tsx";
import { EmptyState } from "../../../../../_components/empty-state.tsx";
import { Markdown } from "../../../../../_components/markdown.tsx";
import { repoFileHref, repoHref } from "../../../../../_server/repo-page.ts";
import { byteSize } from "./byte-size.ts";

export type FileContentProps = Readonly<{
  repo: Repo;
  revision: string;
  file: ViewedFile;
  mayReadContent: boolean;
  /** Of Markdown: as it was written. */
  isSource: boolean;
}>;

export const isMarkdownName = (name: string): boolean => /\.(md|markdown)$/i.test(name);

/** Larger pictures are not loaded unasked. */
const PICTURE_MAX_BYTES = 20 * 1024 * 1024;

/** What is in a file, shown as its kind can be: laid out, as text, as a picture, or as what it weighs. */
export function FileContent({ repo, revision, file, mayReadContent, isSource }: FileContentProps) {
  const { entry, text, bytes } = file;
  if (!mayReadContent) {
    return (
      <EmptyState
        Icon={Lock}
        title="Access to this content is restricted"
        action={<ButtonLink href={repoHref(repo)}>Ask for access</ButtonLink>}
      >
        You see what the files are called; what is in them is for those who were let in.
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
        <Markdown text={text} place={{ base: repoHref(repo), revision, folder }} />
      </div>
    );
  }
  if (text !== null) return <CodeView text={text} name={entry.name} />;
  const href = repoFileHref(repo, "resolve", revision, entry.path);
  const { kind } = contentTypeOf(entry.name, entry.lfs ? undefined : bytes);
  return (
    <>
      {kind === "image" && entry.size <= PICTURE_MAX_BYTES && (
        <div className="border-line border-b bg-sunken p-4">
          {/* biome-ignore lint/performance/noImgElement: a file of a repository, as it is */}
          <img src={href} alt={`What ${entry.name} shows`} className="mx-auto max-h-160 max-w-full" />
        </div>
      )}
      <Weight href={href} file={file} why={reason(file, kind)} />
    </>
  );
}

function reason({ entry, bytes }: ViewedFile, kind: string): string {
  if (kind === "image") return "A picture.";
  if (entry.lfs) return "This file is kept by Git LFS.";
  return bytes ? "This file is not text." : "This file is too large to be shown here.";
}

function Weight({ href, file: { entry }, why }: Readonly<{ href: string; file: ViewedFile; why: string }>) {
  return (
    <div className="grid gap-5 px-4 pb-5 sm:px-5">
      <EmptyState
        Icon={FileQuestion}
        title={why}
        action={
          <a href={`${href}?download=true`} className={buttonClass({ variant: "primary" })}>
            <Download className="size-4" aria-hidden="true" />
            Download
          </a>
        }
      >
        {byteSize(entry.size)} ({entry.size.toLocaleString("en")} bytes)
      </EmptyState>
      {entry.lfs && <CopyField label="SHA-256" value={entry.lfs.oid} />}
    </div>
  );
}
