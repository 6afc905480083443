import { renderMarkdown, type SafeHtml } from "#core/hub/markdown/render-markdown.ts";
import type { MarkdownContext } from "#core/hub/markdown/resolve-addresses.ts";
import { FormMessage } from "./page-layout.tsx";
import { withHtml } from "./safe-html.ts";

type MarkdownProps = Readonly<{
  text: string;
  context?: MarkdownContext;
  /** All texts of a page share one room. */
  room?: PageRoom;
}>;

export type PageRoom = { characters: number; before: Promise<unknown> };

/** A page of short texts becomes no larger than a page of one long text (S137). */
export const pageRoom = (): PageRoom => ({ characters: 1024 * 1024, before: Promise.resolve() });
/** HTML up to this length takes no room, so there is always enough for ordinary texts. */
const FREE_PER_CHARACTER = 4;

const PLAIN_MAX_CHARACTERS = 200_000;
/** A long file is cut, because Next sends a page's text twice. A link leads to the rest of the file. */
const FILE_MAX_CHARACTERS = 20_000;

/** core/hub/markdown/schema.ts decides what the Markdown may contain. */
export async function Markdown({ text, context, room }: MarkdownProps) {
  const html = await (room ? renderInTurn(room, text, context) : renderMarkdown(text, context));
  if (html === undefined)
    return <PlainText text={text} maxCharacters={context?.revision === undefined ? PLAIN_MAX_CHARACTERS : FILE_MAX_CHARACTERS} />;
  return <div className="markdown" {...withHtml(html)} />;
}

/** Renders texts one after another, because all at once would be too many for the queue. A text gets half of the remaining room. */
function renderInTurn(room: PageRoom, text: string, context: MarkdownContext | undefined): Promise<SafeHtml | undefined> {
  const rendered = room.before.then(async () => {
    const html = await renderMarkdown(text, context);
    const wanted = Math.max(0, (html?.length ?? 0) - FREE_PER_CHARACTER * text.length);
    if (wanted > room.characters / 2) return undefined;
    room.characters -= wanted;
    return html;
  });
  room.before = rendered.catch(() => undefined);
  return rendered;
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

export function PlainReadme({ text }: Readonly<{ text: string }>) {
  const isCut = text.length > PLAIN_MAX_CHARACTERS;
  return (
    <div className="grid gap-3">
      {isCut && <FormMessage>This file is long. Here is its beginning.</FormMessage>}
      <pre className="overflow-x-auto whitespace-pre-wrap break-words contain-inline-size">
        {text.slice(0, PLAIN_MAX_CHARACTERS)}
        {isCut && "…"}
      </pre>
    </div>
  );
}
