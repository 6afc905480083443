import { renderMarkdown } from "#core/hub/markdown/render-markdown.ts";
import type { MarkdownContext } from "#core/hub/markdown/resolve-addresses.ts";
import { FormMessage } from "./page-layout.tsx";
import { withHtml } from "./safe-html.ts";

type MarkdownProps = Readonly<{
  text: string;
  context?: MarkdownContext;
  /** Shared by all texts of a page. */
  room?: { characters: number };
}>;

/** A page of short texts becomes no larger than a page of one long text (S137). */
export const pageRoom = () => ({ characters: 2 * 1024 * 1024 });

const PLAIN_MAX_CHARACTERS = 200_000;
/** A long file is cut, because Next sends a page's text twice. A link leads to the rest of the file. */
const FILE_MAX_CHARACTERS = 20_000;

/** core/hub/markdown/schema.ts decides what the Markdown may contain. */
export async function Markdown({ text, context, room = pageRoom() }: MarkdownProps) {
  const html = await renderMarkdown(text, context);
  if (html === undefined || html.length > room.characters)
    return <PlainText text={text} maxCharacters={context?.revision === undefined ? PLAIN_MAX_CHARACTERS : FILE_MAX_CHARACTERS} />;
  room.characters -= html.length;
  return <div className="markdown" {...withHtml(html)} />;
}

function PlainText({ text, maxCharacters }: Readonly<{ text: string; maxCharacters: number }>) {
  const isCut = text.length > maxCharacters;
  const shown = isCut ? "Here is its beginning" : "Here it is";
  return (
    <div className="grid gap-3">
      <FormMessage>{`This text is too long or too deeply nested to format. ${shown} as plain text.`}</FormMessage>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard (WCAG 2.1.1) */}
      <pre tabIndex={0} className="overflow-x-auto whitespace-pre-wrap break-words contain-inline-size">
        {text.slice(0, maxCharacters)}
        {isCut && "…"}
      </pre>
    </div>
  );
}
