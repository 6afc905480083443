import { common, createLowlight } from "lowlight";
import { renderCode, type SafeHtml } from "#core/hub/markdown/render-markdown.ts";
import { withHtml } from "./safe-html.ts";

type CodeViewProps = Readonly<{
  text: string;
  /** The file's name, which decides the language. */
  name: string;
}>;

const LINES_MAX = 3_000;

export async function CodeView({ text, name }: CodeViewProps) {
  const lines = (text.endsWith("\n") ? text.slice(0, -1) : text).split(/\r\n|\n|\r/);
  const shown = lines.slice(0, LINES_MAX);
  const code = `${shown.join("\n")}\n`;
  const html = await highlight(code, name);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard (WCAG 2.1.1) */}
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

/** The Tab key skips the line numbers, because there may be thousands. */
function lineNumbers(count: number): SafeHtml {
  const links = Array.from({ length: count }, (_, index) => {
    const line = index + 1;
    return `<a id="L${line}" href="#L${line}" tabindex="-1" class="line-number">${line}</a>\n`;
  });
  return links.join("") as SafeHtml;
}

const COLORED_MAX_CHARACTERS = 64 * 1024;
const COLORED_LINE_MAX_CHARACTERS = 2_000;
const NAMED: Record<string, string> = { makefile: "makefile", gnumakefile: "makefile", gemfile: "ruby", rakefile: "ruby" };

const lowlight = createLowlight(common);

export async function highlight(text: string, fileName: string): Promise<SafeHtml | undefined> {
  const language = languageOf(fileName);
  if (!language || text.length > COLORED_MAX_CHARACTERS) return undefined;
  if (text.split("\n").some(({ length }) => length > COLORED_LINE_MAX_CHARACTERS)) return undefined;
  return renderCode(text, language);
}

function languageOf(fileName: string): string | undefined {
  const name = fileName.toLowerCase();
  const language = NAMED[name] ?? /\.([a-z0-9+#-]+)$/.exec(name)?.[1];
  return language && lowlight.registered(language) ? language : undefined;
}
