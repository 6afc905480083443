import { Fragment, type ReactNode } from "react";
import { CopyButton } from "./copy-button.client.tsx";
import { FormMessage } from "./page-layout.tsx";

type CopyFieldProps = Readonly<{
  label: string;
  value: string;
}>;

export function CopyField({ label, value }: CopyFieldProps) {
  return (
    <div className="grid gap-1">
      <span className="text-muted text-small">{label}</span>
      <div className="flex min-h-10 items-center gap-1 rounded-control border border-line bg-sunken py-1 pr-1 pl-3">
        <code className="wrap-anywhere min-w-0 flex-1 select-all">
          <UrlText>{value}</UrlText>
        </code>
        <CopyButton value={value} label={label} />
      </div>
    </div>
  );
}

/** A URL may have a thousand slashes, and each part costs two elements (S137). */
const PARTS_MAX = 50;

export function UrlText({ children: url }: Readonly<{ children: string }>) {
  const parts = url.split(/(?<=\/)(?!\/)/);
  if (parts.length > PARTS_MAX) return url;
  return parts.map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}

type CodeBlockProps = Readonly<{
  code: string;
  label: string;
}>;

export function CodeBlock({ code, label }: CodeBlockProps) {
  return (
    <section aria-label={label} className="relative rounded-control border border-line bg-sunken [contain:inline-size]">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard (WCAG 2.1.1) */}
      <pre tabIndex={0} className="overflow-x-auto rounded-control p-3 pr-12 leading-5">
        <code>{code}</code>
      </pre>
      <div className="absolute top-1 right-1 rounded-control bg-sunken">
        <CopyButton value={code} label={label} />
      </div>
    </section>
  );
}

type SecretOnceProps = Readonly<{
  label: string;
  value: string;
  children?: ReactNode;
}>;

export function SecretOnce({ label, value, children }: SecretOnceProps) {
  return (
    <div className="grid gap-3">
      <FormMessage tone="warn">
        Copy the {lowerFirst(label)} now. It is shown only once. {children}
      </FormMessage>
      <CopyField label={label} value={value} />
    </div>
  );
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
