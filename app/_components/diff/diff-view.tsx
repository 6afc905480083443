import { type Diff, type DiffFile, shownLines } from "#core/hub/git/read/diff.ts";
import { DiffFileCard } from "./diff-file-card.tsx";
import { LineCounts } from "./line-counts.tsx";

export type DiffViewProps = Readonly<{
  diff: Diff;
  /** Where a file can be seen as it is after the change; without it names are not links. */
  hrefOf?: (file: DiffFile) => string | undefined;
  /** Why no lines are shown, where they may not be. */
  withheld?: string;
}>;

/** Files with more lines than this wait to be opened. */
const OPEN_LINES_MAX = 400;

const number = new Intl.NumberFormat("en");

/** What changed, file by file, as people read it: of a commit, of a pull request, between two revisions. */
export function DiffView({ diff, hrefOf, withheld }: DiffViewProps) {
  const { files, fileCount, additions, deletions, isCut } = diff;
  if (fileCount === 0) return <p className="text-muted">Nothing differs.</p>;
  return (
    <div className="grid gap-4">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-small">
        <span>
          {number.format(fileCount)} {fileCount === 1 ? "file" : "files"} changed
        </span>
        <LineCounts additions={additions} deletions={deletions} />
        {(isCut || files.length < fileCount) && (
          <span className="text-muted">There is too much to show all of it here: clone the repository to see the rest.</span>
        )}
        {withheld && <span className="text-muted">{withheld}</span>}
      </div>
      {files.map((file, index) => (
        <DiffFileCard
          key={`${file.oldPath} ${file.path}`}
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
