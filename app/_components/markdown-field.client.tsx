"use client";

import type { Root } from "hast";
import type { ReactNode } from "react";
import { useFormState } from "./action-form.client.tsx";
import type { FormState } from "./form-state.ts";
import { MarkdownTree } from "./markdown-tree.tsx";
import { SubmitButton } from "./submit-button.client.tsx";
import { TextArea } from "./text-area.client.tsx";

/** What a form's action answers with when its field was to be shown as it will be read. `null`: there is nothing to lay out. */
export type PreviewState = FormState & Readonly<{ preview?: Root | null }>;

/** The value of the button `intent` that asks for it. */
export const PREVIEW = "preview";

export type MarkdownFieldProps = Readonly<{
  name: string;
  label: ReactNode;
  isOptional?: boolean;
  rows?: number;
  defaultValue?: string;
}>;

/** Markdown to write, and to look at before it is sent: the form's own action lays it out, with scripts or without. */
export function MarkdownField({ name, label, isOptional, rows = 5, defaultValue }: MarkdownFieldProps) {
  const { preview } = useFormState() as PreviewState;
  return (
    <div className="grid gap-2">
      <TextArea {...{ name, label, rows, defaultValue }} isOptional={isOptional ?? false} hint="Markdown works here." />
      <div>
        <SubmitButton name="intent" value={PREVIEW} variant="quiet" size="small" className="-ml-3">
          Preview
        </SubmitButton>
      </div>
      {preview !== undefined && (
        <section aria-label="Preview" className="min-w-0 rounded-control border border-line border-dashed px-4 py-3">
          {preview ? <MarkdownTree tree={preview} /> : <p className="text-muted text-small">There is nothing to show yet.</p>}
        </section>
      )}
    </div>
  );
}
