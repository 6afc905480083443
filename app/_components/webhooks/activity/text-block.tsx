import { highlight } from "../../code/highlight.ts";
import { CopyButton } from "../../copy-button.client.tsx";
import { withHtml } from "../../safe-html.ts";

export type TextBlockProps = Readonly<{
  text: string;
  /** What it is, for the copy button and for those who cannot see it: "request body". */
  label: string;
  /** Shown in its colours. */
  isJson?: boolean;
}>;

/** A long text in a small place: it scrolls both ways, with the keyboard too. */
export async function TextBlock({ text, label, isJson }: TextBlockProps) {
  const html = isJson ? await highlight(text, "body.json") : undefined;
  return (
    <div className="relative rounded-control contain-inline-size border border-line bg-sunken">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard (WCAG 2.1.1) */}
      <section aria-label={label} tabIndex={0} className="max-h-96 overflow-auto rounded-control p-3 pr-11">
        <pre className="text-fine leading-5">
          {html ? <code className="text-fine" {...withHtml(html)} /> : <code className="text-fine">{text}</code>}
        </pre>
      </section>
      <div className="absolute top-1 right-1 rounded-control bg-sunken">
        <CopyButton value={text} label={label} />
      </div>
    </div>
  );
}
