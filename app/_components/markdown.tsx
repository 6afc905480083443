import type { Root } from "hast";
import { type Components, toJsxRuntime } from "hast-util-to-jsx-runtime";
import { Square, SquareCheck } from "lucide-react";
import { Fragment, jsx, jsxs } from "react/jsx-runtime";
import type { MarkdownPlace } from "#core/hub/markdown/place.ts";
import { renderMarkdown } from "#core/hub/markdown/render-markdown.ts";
import { FormMessage } from "./form-message.tsx";

export type MarkdownProps = Readonly<{
  text: string;
  /** Where it stands, for relative links and images; without `base` they lead nowhere. */
  place?: MarkdownPlace;
}>;

const PLAIN_MAX_CHARACTERS = 200_000;

/** A text that somebody wrote, laid out. What it may contain is decided in core/hub/markdown/schema.ts. */
export async function Markdown({ text, place }: MarkdownProps) {
  const tree = await renderMarkdown(text, place);
  if (!tree) return <AsItIs text={text} />;
  return <div className="markdown">{toReact(tree)}</div>;
}

function toReact(tree: Root) {
  return toJsxRuntime(tree, { Fragment, jsx, jsxs, components, ignoreInvalidStyle: true });
}

/** A ticked box says so without being a control. */
const components: Components = {
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard (WCAG 2.1.1)
  pre: ({ node: _, ...rest }) => <pre {...rest} tabIndex={0} />,
  table: ({ node: _, ...rest }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard (WCAG 2.1.1)
    // biome-ignore lint/a11y/useSemanticElements: a table that scrolls is no set of fields
    <div role="group" aria-label="Table" tabIndex={0} className="overflow-x-auto">
      <table {...rest} />
    </div>
  ),
  input: ({ checked }) => {
    const Icon = checked ? SquareCheck : Square;
    return (
      <>
        <Icon className="mr-1.5 inline size-4 align-text-bottom text-muted" aria-hidden="true" />
        <span className="sr-only">{checked ? "Done: " : "To do: "}</span>
      </>
    );
  },
};

function AsItIs({ text }: Readonly<{ text: string }>) {
  return (
    <div className="grid gap-3">
      <FormMessage>This text is too long or too deeply nested to be laid out. Here it is as it was written.</FormMessage>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard (WCAG 2.1.1) */}
      <pre tabIndex={0} className="overflow-x-auto whitespace-pre-wrap break-words contain-inline-size">
        {text.slice(0, PLAIN_MAX_CHARACTERS)}
        {text.length > PLAIN_MAX_CHARACTERS && "…"}
      </pre>
    </div>
  );
}
