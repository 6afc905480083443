import { ChevronRight } from "lucide-react";
import Link from "next/link";
import type { DiffFile, FileStatus } from "#core/hub/git/read/diff.ts";
import { Chip } from "../chip.tsx";
import { DiffLines } from "./diff-lines.tsx";
import { LineCounts } from "./line-counts.tsx";

export type DiffFileCardProps = Readonly<{
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
  "type-changed": { word: "Another type", tone: "warn" },
};

/** One file of a difference: what happened to it, and its lines, which fold away. */
export function DiffFileCard({ id, file, href, isOpen, isWithheld }: DiffFileCardProps) {
  const { path, oldPath, status, additions, deletions, isBinary } = file;
  const { word, tone } = looks[status];
  return (
    <details id={id} open={isOpen} className="group scroll-mt-5 rounded-card border border-line bg-surface contain-inline-size">
      <summary className="flex flex-wrap items-center gap-x-2.5 gap-y-1 rounded-card px-3 py-2 text-small hover:bg-sunken">
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
        {isBinary ? <span className="text-fine text-muted">binary</span> : <LineCounts {...{ additions, deletions }} />}
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
        {file.hunks.length > 0 && <DiffLines path={path} hunks={file.hunks} />}
        {file.isCut && (
          <p className="border-line border-t px-4 py-2 text-muted text-small">
            {file.hunks.length > 0
              ? "The rest of this file is not shown: it is too large."
              : "This file is too large to be shown here."}
          </p>
        )}
      </div>
    </details>
  );
}

function noteOf({ oldMode, newMode, hunks, isBinary, isCut, status }: DiffFile, isWithheld: boolean) {
  const mode = oldMode && newMode && oldMode !== newMode ? `Mode ${oldMode} → ${newMode}` : null;
  if (mode) return <span>{mode}</span>;
  if (isBinary) return <span>Not text: its lines cannot be compared.</span>;
  if (hunks.length > 0 || isCut || isWithheld) return null;
  return <span>{status === "renamed" || status === "copied" ? "The content is the same." : "There are no lines in it."}</span>;
}
