import { Fragment, type ReactNode } from "react";
import { classNames } from "./class-names.ts";
import { CopyButton } from "./copy-button.client.tsx";
import { FormMessage } from "./page-layout.tsx";

type CopyFieldProps = Readonly<{
  label: string;
  value: string;
}>;

/** A value to copy (an ID, a URL), with its label above and a copy button at its end. */
export function CopyField({ label, value }: CopyFieldProps) {
  return (
    <div className="grid gap-1">
      <span className="text-muted text-small">{label}</span>
      <div className="flex min-h-10 items-center gap-1 rounded-control border border-line bg-sunken py-1 pr-1 pl-3">
        <code className="wrap-anywhere min-w-0 flex-1 select-all">
          {/* A URL is broken after a slash, if possible. */}
          {value.split(/(?<=\/)(?!\/)/).map((part, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text
            <Fragment key={index}>
              {index > 0 && <wbr />}
              {part}
            </Fragment>
          ))}
        </code>
        <CopyButton value={value} label={label} />
      </div>
    </div>
  );
}

type CodeBlockProps = Readonly<{
  code: string;
  /** The name of the code, for the copy button and for screen readers: "curl command". */
  label: string;
}>;

/** Code to copy. The keyboard can scroll it; a single command is wrapped instead. */
export function CodeBlock({ code, label }: CodeBlockProps) {
  return (
    // Long lines scroll: without containment they would widen every grid and fieldset around them.
    <div className="relative rounded-control contain-inline-size border border-line bg-sunken">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard (WCAG 2.1.1) */}
      <section aria-label={label} tabIndex={0} className="overflow-x-auto rounded-control p-3">
        {/* The padding lets the end of the first line scroll out from under the button. */}
        <pre
          className={classNames("pr-8 leading-5", code.includes("\n") ? "w-max min-w-full" : "wrap-anywhere whitespace-pre-wrap")}
        >
          <code>{code}</code>
        </pre>
      </section>
      <div className="absolute top-1 right-1 rounded-control bg-sunken">
        <CopyButton value={code} label={label} />
      </div>
    </div>
  );
}

type SecretOnceProps = Readonly<{
  label: string;
  value: string;
  /** Where to keep the secret, and its purpose. */
  children?: ReactNode;
}>;

/** A secret that was just created. The service never shows it again. */
export function SecretOnce({ label, value, children }: SecretOnceProps) {
  return (
    <div className="grid gap-3">
      <FormMessage tone="warn">Copy it now. It is shown only once. {children}</FormMessage>
      <CopyField label={label} value={value} />
    </div>
  );
}
