import { common, createLowlight } from "lowlight";
import { answerInSubprocess } from "../../subprocesses/answer-in-subprocess.ts";
import { withoutFrontMatter } from "../repos/front-matter.ts";
import type { MarkdownPlace } from "./place.ts";
import { drawForPage, toHtml } from "./to-html.ts";
import { toSafeTree } from "./to-safe-tree.ts";

/** Markdown, or code to be coloured: in either there are short texts that keep a parser busy for hours. */
export type ToLayOut = { text: string; place: MarkdownPlace } | { code: string; language: string };

const lowlight = createLowlight(common);

answerInSubprocess((asked: ToLayOut): string => {
  if ("code" in asked) return toHtml(lowlight.highlight(asked.language, asked.code));
  const tree = toSafeTree(withoutFrontMatter(asked.text), asked.place);
  drawForPage(tree);
  return toHtml(tree);
});
