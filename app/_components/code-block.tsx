import { CopyButton } from "./copy-button.client.tsx";

export type CodeBlockProps = Readonly<{
  code: string;
  /** What the code is, for the copy button and for those who cannot see it: "curl command". */
  label: string;
}>;

/** Code to take away. It can be scrolled with the keyboard alone. */
export function CodeBlock({ code, label }: CodeBlockProps) {
  return (
    // Long lines scroll: without containment they would widen every grid and fieldset around them.
    <div className="flex items-start rounded-control contain-inline-size border border-line bg-sunken">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard (WCAG 2.1.1) */}
      <section aria-label={label} tabIndex={0} className="min-w-0 flex-1 overflow-x-auto rounded-control p-3">
        <pre className="leading-5">
          <code>{code}</code>
        </pre>
      </section>
      <div className="p-1">
        <CopyButton value={code} label={label} />
      </div>
    </div>
  );
}
