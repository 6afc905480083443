import { CopyButton } from "./copy-button.client.tsx";

export type CodeBlockProps = Readonly<{
  code: string;
  /** What the code is, for the copy button and for those who cannot see it: "curl command". */
  label: string;
}>;

/** Code to take away. It can be scrolled with the keyboard alone. */
export function CodeBlock({ code, label }: CodeBlockProps) {
  return (
    <div className="relative rounded-control border border-line bg-sunken">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard (WCAG 2.1.1) */}
      <section aria-label={label} tabIndex={0} className="overflow-x-auto rounded-control py-3 pr-12 pl-3">
        <pre className="leading-5">
          <code>{code}</code>
        </pre>
      </section>
      <div className="absolute top-1 right-1 rounded-control bg-sunken">
        <CopyButton value={code} label={label} />
      </div>
    </div>
  );
}
