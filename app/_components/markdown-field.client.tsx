"use client";

import type { ReactNode } from "react";
import { useFormState } from "./action-form.client.tsx";
import type { ButtonLook } from "./button.tsx";
import type { FormState } from "./form-state.ts";
import { type SafeHtml, withHtml } from "./safe-html.ts";
import { SubmitButton } from "./submit-button.client.tsx";
import { TextArea } from "./text-area.client.tsx";

/** What a form's action answers with when its field was to be shown as it will be read. `null`: there is nothing to lay out. */
export type PreviewState = FormState & Readonly<{ preview?: SafeHtml | null }>;

/** The value of the button `intent` that asks for it. */
export const PREVIEW = "preview";

export type MarkdownFieldProps = Readonly<{
  name: string;
  label: ReactNode;
  isOptional?: boolean;
  rows?: number;
  /** The form's other buttons. They come before the one for the preview: Enter in a field presses the first of a form. */
  children: ReactNode;
  /** Whatever comes after it: the way back. */
  after?: ReactNode;
  /** Of the button for the preview, as of the others. */
  size?: ButtonLook["size"];
}>;

/** Markdown to write, and to look at before it is sent: the form's own action lays it out, with scripts or without. */
export function MarkdownField({ name, label, isOptional, rows = 5, children, after, size }: MarkdownFieldProps) {
  const { preview } = useFormState() as PreviewState;
  return (
    <div className="grid gap-3">
      <TextArea {...{ name, label, rows }} isOptional={isOptional ?? false} hint="Markdown works here." className="min-h-36!" />
      {preview !== undefined && (
        <section aria-label="Preview" className="min-w-0 rounded-control border border-line border-dashed px-4 py-3">
          {preview ? (
            <div className="markdown" {...withHtml(preview)} />
          ) : (
            <p className="text-muted text-small">There is nothing to show yet.</p>
          )}
        </section>
      )}
      <div className="flex flex-wrap items-center gap-2">
        {children}
        <SubmitButton name="intent" value={PREVIEW} variant="quiet" size={size}>
          Preview
        </SubmitButton>
        {after}
      </div>
    </div>
  );
}
