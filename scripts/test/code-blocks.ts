import type { Code, RootContent } from "mdast";
import remarkParse from "remark-parse";
import { unified } from "unified";

export type CodeBlock = Readonly<{
  language: string;
  code: string;
  line: number;
  /** `{ verb: "not run", what: "needs a telephone" }` for `<!-- not run: needs a telephone -->`. */
  directive?: Readonly<{ verb: string; what: string }>;
}>;

export function codeBlocks(markdown: string): CodeBlock[] {
  return collect(unified().use(remarkParse).parse(markdown).children);
}

function collect(nodes: readonly RootContent[]): CodeBlock[] {
  return nodes.flatMap((node, index) => {
    if (node.type === "code") return [blockOf(node, nodes[index - 1])];
    return "children" in node ? collect(node.children as RootContent[]) : [];
  });
}

function blockOf({ lang, value, position }: Code, before: RootContent | undefined): CodeBlock {
  const [, verb, what] = (before?.type === "html" && /^<!-- ([a-z ]+):([\s\S]*)-->$/.exec(before.value)) || [];
  return {
    language: lang ?? "",
    code: value,
    line: position?.start.line ?? 0,
    ...(verb !== undefined && { directive: { verb, what: what?.trim() ?? "" } }),
  };
}
