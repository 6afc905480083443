import type { Element, Root } from "hast";
import { type Components, toJsxRuntime } from "hast-util-to-jsx-runtime";
import { Link2 } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { Fragment, jsx, jsxs } from "react/jsx-runtime";
import { textOf } from "#core/docs/render-guide.ts";
import { CopyButton } from "../_components/copy-button.client.tsx";

export function GuideTree({ tree }: Readonly<{ tree: Root }>) {
  const content = toJsxRuntime(tree, { Fragment, jsx, jsxs, components, passNode: true });
  return <div className="markdown guide">{content}</div>;
}

const LANGUAGES: Readonly<Record<string, string>> = {
  sh: "Shell",
  console: "Shell",
  js: "JavaScript",
  ts: "TypeScript",
  py: "Python",
  python: "Python",
  go: "Go",
  json: "JSON",
  http: "HTTP",
  yaml: "YAML",
  html: "HTML",
};

const components: Components = {
  table: ({ node: _, ...rest }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard (WCAG 2.1.1)
    // biome-ignore lint/a11y/useSemanticElements: a table that scrolls is not a set of fields
    <div role="group" aria-label="Table" tabIndex={0} className="table-scroll">
      <table {...rest} />
    </div>
  ),
  a: ({ node: _, href = "", children, ...rest }) =>
    href.startsWith("/") ? (
      <Link prefetch={false} href={href}>
        {children}
      </Link>
    ) : (
      <a href={href} {...rest}>
        {children}
      </a>
    ),
  h2: ({ node: _, ...rest }) => <Heading as="h2" {...rest} />,
  h3: ({ node: _, ...rest }) => <Heading as="h3" {...rest} />,
  pre: ({ node, children }) => <Code node={node}>{children}</Code>,
};

function Heading({ as: Level, id, children }: Readonly<{ as: "h2" | "h3"; id?: string; children?: ReactNode }>) {
  return (
    <Level id={id} className="group scroll-mt-4">
      {children}
      <a
        href={`#${id}`}
        className="anchor ml-2 inline-block align-middle text-muted opacity-0 focus-visible:opacity-100 group-hover:opacity-100"
      >
        <Link2 className="size-4" aria-hidden="true" />
        <span className="sr-only">Link to this section</span>
      </a>
    </Level>
  );
}

function Code({ node, children }: Readonly<{ node?: Element; children: ReactNode }>) {
  const code = node ? textOf(node).replace(/\n$/, "") : "";
  const label = languageOf(node);
  return (
    <div className="guide-code flex flex-col rounded-control border border-line bg-sunken contain-inline-size">
      <div className="flex items-center justify-between border-line border-b py-0.5 pr-1 pl-3 text-fine text-muted">
        <span>{label}</span>
        <CopyButton value={code} label={`${label} example`} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard (WCAG 2.1.1) */}
      <pre tabIndex={0} className="overflow-x-auto rounded-control">
        {children}
      </pre>
    </div>
  );
}

function languageOf(node: Element | undefined): string {
  const code = node?.children.find((child): child is Element => child.type === "element");
  const classes = code?.properties.className;
  const name = Array.isArray(classes) ? classes.map(String).find((one) => one.startsWith("language-")) : undefined;
  return LANGUAGES[name?.slice("language-".length) ?? ""] ?? "Text";
}
