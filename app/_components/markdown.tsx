import type { MarkdownPlace } from "#core/hub/markdown/place.ts";
import { renderMarkdown } from "#core/hub/markdown/render-markdown.ts";
import { FormMessage } from "./form-message.tsx";
import { withHtml } from "./safe-html.ts";

export type MarkdownProps = Readonly<{
  text: string;
  /** Where it stands, for relative links and images; without `base` they lead nowhere. */
  place?: MarkdownPlace;
}>;

const PLAIN_MAX_CHARACTERS = 200_000;
/** Less of a file: the rest is a click away, and Next sends the text of a page twice. */
const FILE_MAX_CHARACTERS = 20_000;

/** A text that somebody wrote, laid out. What it may contain is decided in core/hub/markdown/schema.ts. */
export async function Markdown({ text, place }: MarkdownProps) {
  const html = await renderMarkdown(text, place);
  if (html === undefined)
    return <AsItIs text={text} maxCharacters={place?.revision === undefined ? PLAIN_MAX_CHARACTERS : FILE_MAX_CHARACTERS} />;
  return <div className="markdown" {...withHtml(html)} />;
}

function AsItIs({ text, maxCharacters }: Readonly<{ text: string; maxCharacters: number }>) {
  const isCut = text.length > maxCharacters;
  const shown = isCut ? "Here is its beginning" : "Here it is";
  return (
    <div className="grid gap-3">
      <FormMessage>{`This text is too long or too deeply nested to be laid out. ${shown}, as it was written.`}</FormMessage>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard (WCAG 2.1.1) */}
      <pre tabIndex={0} className="overflow-x-auto whitespace-pre-wrap break-words contain-inline-size">
        {text.slice(0, maxCharacters)}
        {isCut && "…"}
      </pre>
    </div>
  );
}
