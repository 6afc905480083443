import { Fragment } from "react";
import type { DiffHunk, DiffLine } from "#core/hub/git/read/diff.ts";

export type DiffLinesProps = Readonly<{ path: string; hunks: readonly DiffHunk[] }>;

/** Lines with their numbers before and after; the look is in globals.css, since there are thousands of them. */
export function DiffLines({ path, hunks }: DiffLinesProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard (WCAG 2.1.1)
    <section aria-label={`Changes of ${path}`} tabIndex={0} className="overflow-x-auto border-line border-t last:rounded-b-card">
      <table className="diff-lines">
        <tbody>
          {hunks.map((hunk, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: they have nothing else, and never change
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
        {isUnended && <span className="unended"> no line break at the end</span>}
      </td>
    </tr>
  );
}
