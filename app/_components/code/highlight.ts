import type { ElementContent, Root } from "hast";
import { common, createLowlight } from "lowlight";
import { renderCode } from "#core/hub/markdown/render-markdown.ts";

/** A piece of a line in one colour. */
export type CodeToken = Readonly<{ className?: string; text: string }>;
export type CodeLine = readonly CodeToken[];

/** More is shown without colours. */
const COLOURED_MAX_CHARACTERS = 64 * 1024;
const COLOURED_LINE_MAX_CHARACTERS = 2_000;
const NAMED: Record<string, string> = { makefile: "makefile", gnumakefile: "makefile", gemfile: "ruby", rakefile: "ruby" };

const lowlight = createLowlight(common);

/** A text by lines, in the colours of its language where the file's name tells one that is known. */
export async function highlightLines(text: string, fileName: string): Promise<CodeLine[]> {
  const language = languageOf(fileName);
  const lines = text.split(/\r\n|\n|\r/);
  const isColoured =
    language && text.length <= COLOURED_MAX_CHARACTERS && lines.every(({ length }) => length <= COLOURED_LINE_MAX_CHARACTERS);
  const tree = isColoured && (await renderCode(lines.join("\n"), language));
  return tree ? linesOf(tree) : lines.map((line) => (line === "" ? [] : [{ text: line }]));
}

function languageOf(fileName: string): string | undefined {
  const name = fileName.toLowerCase();
  const language = NAMED[name] ?? /\.([a-z0-9+#-]+)$/.exec(name)?.[1];
  return language && lowlight.registered(language) ? language : undefined;
}

/** The tree of colours, cut at line ends: what is open there goes on in the next line. */
function linesOf(tree: Root): CodeLine[] {
  const lines: CodeToken[][] = [[]];
  const add = (nodes: readonly (ElementContent | Root["children"][number])[], className: string | undefined) => {
    for (const node of nodes) {
      if (node.type === "element") add(node.children, classOf(node.properties.className) ?? className);
      if (node.type !== "text") continue;
      for (const [index, text] of node.value.split("\n").entries()) {
        if (index > 0) lines.push([]);
        if (text !== "") lines.at(-1)?.push(className ? { className, text } : { text });
      }
    }
  };
  add(tree.children, undefined);
  return lines;
}

const classOf = (names: unknown): string | undefined => (Array.isArray(names) ? names.join(" ") : undefined);
