import { ChevronRight } from "lucide-react";
import Link from "next/link";
import { Fragment } from "react";
import { counted } from "#core/counted.ts";
import { type Diff, type DiffFile, type DiffHunk, type DiffLine, type FileStatus, shownLines } from "#core/hub/git/read/diff.ts";
import { Chip } from "./chip.tsx";

type DiffViewProps = Readonly<{
  diff: Diff;
  hrefOf?: (file: DiffFile) => string | undefined;
  /** The text that replaces the lines if the reader may not see them. */
  withheld?: string;
}>;

const OPEN_LINES_MAX = 400;

const number = new Intl.NumberFormat("en");

export function DiffView({ diff, hrefOf, withheld }: DiffViewProps) {
  const { files, fileCount, additions, deletions, isCut } = diff;
  if (fileCount === 0) return <p className="text-muted">There are no differences.</p>;
  return (
    <div className="grid gap-4">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-small">
        <span>
          {number.format(fileCount)} {fileCount === 1 ? "file" : "files"} changed
        </span>
        {withheld === undefined && <LineCounts additions={additions} deletions={deletions} />}
        {(isCut || files.length < fileCount) && (
          <span className="text-muted">
            The diff is too large to show in full.{withheld === undefined && " Clone the repository to see the rest."}
          </span>
        )}
        {withheld && <span className="text-muted">{withheld}</span>}
      </div>
      {files.map((file, index) => (
        <DiffFileCard
          // biome-ignore lint/suspicious/noArrayIndexKey: files never change, and long paths are cut
          key={index}
          id={`file-${index + 1}`}
          file={file}
          href={hrefOf?.(file)}
          isOpen={shownLines(file) <= OPEN_LINES_MAX}
          isWithheld={withheld !== undefined}
        />
      ))}
    </div>
  );
}

type DiffFileCardProps = Readonly<{
  id: string;
  file: DiffFile;
  href: string | undefined;
  isOpen: boolean;
  isWithheld: boolean;
}>;

const looks: Record<FileStatus, { word: string; tone: "good" | "bad" | "neutral" | "warn" }> = {
  added: { word: "Added", tone: "good" },
  deleted: { word: "Deleted", tone: "bad" },
  modified: { word: "Changed", tone: "neutral" },
  renamed: { word: "Renamed", tone: "neutral" },
  copied: { word: "Copied", tone: "neutral" },
  "type-changed": { word: "Type changed", tone: "warn" },
};

function DiffFileCard({ id, file, href, isOpen, isWithheld }: DiffFileCardProps) {
  const { path, oldPath, status, additions, deletions, isBinary } = file;
  const { word, tone } = looks[status];
  return (
    <details id={id} open={isOpen} className="group scroll-mt-5 rounded-card border border-line bg-surface contain-inline-size">
      <summary className="flex flex-wrap items-center gap-x-2.5 gap-y-1 rounded-card px-4 py-2 text-small hover:bg-sunken">
        <ChevronRight className="size-4 shrink-0 text-muted group-open:rotate-90" aria-hidden="true" />
        <code className="wrap-anywhere min-w-0 flex-1 basis-40">
          {oldPath && (
            <>
              <bdi>{oldPath}</bdi>
              <span className="text-muted"> → </span>
            </>
          )}
          <bdi>{path}</bdi>
        </code>
        <Chip tone={tone}>{word}</Chip>
        {isBinary && <span className="text-fine text-muted">binary</span>}
        {!isBinary && !isWithheld && <LineCounts {...{ additions, deletions }} />}
      </summary>
      <div className="border-line border-t">
        <p className="flex flex-wrap gap-x-4 gap-y-1 px-4 py-2 text-fine text-muted empty:hidden">
          {noteOf(file, isWithheld)}
          {href && status !== "deleted" && (
            <Link prefetch={false} href={href} className="link">
              View file
            </Link>
          )}
        </p>
        {file.hunks.length > 0 && <DiffLines label={`Changes to ${path}`} hunks={file.hunks} />}
        {file.isCut && (
          <p className="border-line border-t px-4 py-2 text-muted text-small">
            {file.hunks.length > 0 ? "The rest of this file is too large to show." : "This file is too large to show."}
          </p>
        )}
      </div>
    </details>
  );
}

function noteOf({ oldMode, newMode, hunks, isBinary, isCut, status }: DiffFile, isWithheld: boolean) {
  const mode = oldMode && newMode && oldMode !== newMode ? `Mode ${oldMode} → ${newMode}` : null;
  if (mode) return <span>{mode}</span>;
  if (isBinary) return <span>This file is not text, so its lines cannot be compared.</span>;
  if (hunks.length > 0 || isCut || isWithheld) return null;
  return <span>{status === "renamed" || status === "copied" ? "The content has not changed." : "The file has no lines."}</span>;
}

type DiffLinesProps = Readonly<{ label: string; hunks: readonly DiffHunk[] }>;

/** The style is in content.css, because classes on thousands of lines would make the page large. */
export function DiffLines({ label, hunks }: DiffLinesProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard (WCAG 2.1.1)
    <section aria-label={label} tabIndex={0} className="overflow-x-auto border-line not-first:border-t last:rounded-b-card">
      <table className="diff-lines">
        <tbody>
          {hunks.map((hunk, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: hunks have no other key, and never change
            <Fragment key={index}>
              {(index > 0 || hunk.heading) && (
                <tr className="hunk">
                  <td colSpan={3}>{hunk.heading || "…"}</td>
                </tr>
              )}
              {hunk.lines.map((line) => (
                <Line key={`${line.oldNumber} ${line.newNumber}`} line={line} />
              ))}
            </Fragment>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const signs = { context: " ", added: "+", deleted: "-" } as const;

function Line({ line: { kind, oldNumber, newNumber, text, isUnended } }: Readonly<{ line: DiffLine }>) {
  return (
    <tr className={kind === "context" ? undefined : kind}>
      <td data-n={oldNumber ?? ""} />
      <td data-n={newNumber ?? ""} />
      <td>
        {signs[kind]}
        {text}
        {isUnended && <span className="unended"> no newline at end of file</span>}
      </td>
    </tr>
  );
}

function LineCounts({ additions, deletions }: Readonly<{ additions: number; deletions: number }>) {
  return (
    <span className="whitespace-nowrap font-mono text-fine">
      <span className="text-good">
        <span aria-hidden="true">+{number.format(additions)}</span>
        <span className="sr-only">{counted(additions, "line")} added, </span>
      </span>{" "}
      <span className="text-bad">
        <span aria-hidden="true">−{number.format(deletions)}</span>
        <span className="sr-only">{counted(deletions, "line")} deleted</span>
      </span>
    </span>
  );
}
