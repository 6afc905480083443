import type { SafeHtml } from "#core/hub/markdown/render-markdown.ts";
import { withHtml } from "../safe-html.ts";
import { highlight } from "./highlight.ts";

export type CodeViewProps = Readonly<{
  text: string;
  /** Of the file, for its language and for those who cannot see it. */
  name: string;
}>;

/** More lines are not drawn: the file itself is a click away. */
const LINES_MAX = 3_000;

/** A text file with its lines numbered; the address of line 12 ends in `#L12`. */
export async function CodeView({ text, name }: CodeViewProps) {
  const lines = (text.endsWith("\n") ? text.slice(0, -1) : text).split(/\r\n|\n|\r/);
  const shown = lines.slice(0, LINES_MAX);
  const code = `${shown.join("\n")}\n`;
  const html = await highlight(code, name);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard (WCAG 2.1.1) */}
      <section aria-label={`Content of ${name}`} tabIndex={0} className="overflow-x-auto rounded-b-card contain-inline-size">
        <div className="code-lines">
          <pre className="line-numbers" {...withHtml(lineNumbers(shown.length))} />
          <pre>{html ? <code {...withHtml(html)} /> : <code>{code}</code>}</pre>
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

/** Thousands of links: to a keyboard the whole text is one stop. */
function lineNumbers(count: number): SafeHtml {
  const links = Array.from({ length: count }, (_, index) => {
    const line = index + 1;
    return `<a id="L${line}" href="#L${line}" tabindex="-1" class="line-number">${line}</a>\n`;
  });
  return links.join("") as SafeHtml;
}
