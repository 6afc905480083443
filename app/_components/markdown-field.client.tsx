"use client";

import type { ReactNode } from "react";
import { SubmitButton, useFormState } from "./action-form.client.tsx";
import type { ButtonLook } from "./button-class.ts";
import { TextArea } from "./fields.client.tsx";
import { PREVIEW } from "./form-state.ts";
import { withHtml } from "./safe-html.ts";

type MarkdownFieldProps = Readonly<{
  name: string;
  label: ReactNode;
  isOptional?: boolean;
  rows?: number;
  /** These buttons come before the preview button, because Enter in a field presses the first button of a form. */
  children: ReactNode;
  after?: ReactNode;
  size?: ButtonLook["size"];
}>;

/** The form's own action renders the preview, so the preview works without scripts. */
export function MarkdownField({ name, label, isOptional, rows = 5, children, after, size }: MarkdownFieldProps) {
  const { preview } = useFormState();
  return (
    <div className="grid gap-3">
      <TextArea {...{ name, label, rows }} isOptional={isOptional ?? false} hint="Markdown is supported." className="min-h-36!" />
      {preview !== undefined && (
        <section aria-label="Preview" className="min-w-0 rounded-control border border-line border-dashed px-4 py-3">
          {preview ? (
            <div className="markdown" {...withHtml(preview)} />
          ) : (
            <p className="text-muted text-small">Nothing to preview yet.</p>
          )}
        </section>
      )}
      <div className="flex flex-wrap items-center gap-2">
        {children}
        <SubmitButton name="intent" value={PREVIEW} variant="secondary" size={size}>
          Preview
        </SubmitButton>
        {after}
      </div>
    </div>
  );
}
