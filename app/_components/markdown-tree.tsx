import type { Root } from "hast";
import { type Components, toJsxRuntime } from "hast-util-to-jsx-runtime";
import { Square, SquareCheck } from "lucide-react";
import { Fragment, jsx, jsxs } from "react/jsx-runtime";

/** A text that was laid out (core/hub/markdown), on the server or, for a preview, in the browser. */
export function MarkdownTree({ tree }: Readonly<{ tree: Root }>) {
  const content = toJsxRuntime(tree, { Fragment, jsx, jsxs, components: markdownComponents, ignoreInvalidStyle: true });
  return <div className="markdown">{content}</div>;
}

/** A ticked box says so without being a control. */
export const markdownComponents: Components = {
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
