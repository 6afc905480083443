import { highlightLines } from "../../code/highlight.ts";
import { CopyButton } from "../../copy-button.client.tsx";

export type TextBlockProps = Readonly<{
  text: string;
  /** What it is, for the copy button and for those who cannot see it: "request body". */
  label: string;
  /** Shown in its colours. */
  isJson?: boolean;
}>;

/** A long text in a small place: it scrolls both ways, with the keyboard too. */
export async function TextBlock({ text, label, isJson }: TextBlockProps) {
  return (
    <div className="relative rounded-control contain-inline-size border border-line bg-sunken">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard (WCAG 2.1.1) */}
      <section aria-label={label} tabIndex={0} className="max-h-96 overflow-auto rounded-control p-3 pr-11">
        <pre className="text-fine leading-5">
          <code className="text-fine">{isJson ? await coloured(text) : text}</code>
        </pre>
      </section>
      <div className="absolute top-1 right-1 rounded-control bg-sunken">
        <CopyButton value={text} label={label} />
      </div>
    </div>
  );
}

async function coloured(text: string) {
  const lines = await highlightLines(text, "body.json");
  return lines.flatMap((line, row) => [
    row > 0 && "\n",
    ...line.map((token, at) =>
      token.className ? (
        // biome-ignore lint/suspicious/noArrayIndexKey: a piece of a line has nothing but its place
        <span key={`${row} ${at}`} className={token.className}>
          {token.text}
        </span>
      ) : (
        token.text
      ),
    ),
  ]);
}
