import { Fragment, type ReactNode } from "react";
import { type CodeLine, highlightLines } from "./highlight.ts";

export type CodeViewProps = Readonly<{
  text: string;
  /** Of the file, for its language and for those who cannot see it. */
  name: string;
}>;

/** More lines are not drawn: the file itself is a click away. */
const LINES_MAX = 3_000;

/** A text file with its lines numbered; the address of line 12 ends in `#L12`. */
export async function CodeView({ text, name }: CodeViewProps) {
  const lines = await highlightLines(text.endsWith("\n") ? text.slice(0, -1) : text, name);
  const shown = lines.slice(0, LINES_MAX);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard (WCAG 2.1.1) */}
      <section aria-label={`Content of ${name}`} tabIndex={0} className="overflow-x-auto rounded-b-card contain-inline-size">
        <div className="code-lines">
          <pre className="line-numbers">
            {shown.map((_, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a line has nothing but its number
              <Fragment key={index}>
                {/* Thousands of them: to a keyboard the whole text is one stop. */}
                <a id={`L${index + 1}`} href={`#L${index + 1}`} tabIndex={-1} className="line-number">
                  {index + 1}
                </a>
                {"\n"}
              </Fragment>
            ))}
          </pre>
          <pre>
            <code>{shown.map(lineOf)}</code>
          </pre>
        </div>
      </section>
      {shown.length < lines.length && (
        <p className="border-line border-t px-4 py-3 text-muted text-small">
          The first {LINES_MAX.toLocaleString("en")} of {lines.length.toLocaleString("en")} lines. Open the raw file for the rest.
        </p>
      )}
    </>
  );
}

function lineOf(tokens: CodeLine, index: number): ReactNode {
  const pieces = tokens.map(({ className, text }, at) =>
    className ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: a piece has nothing but its place
      <span key={at} className={className}>
        {text}
      </span>
    ) : (
      text
    ),
  );
  // Without an element of its own, as far as that goes: a page of code is as large as it has elements.
  if (pieces.every((piece) => typeof piece === "string")) return `${pieces.join("")}\n`;
  return <Fragment key={index}>{[...pieces, "\n"]}</Fragment>;
}
