"use client";

import { useEffect, useRef } from "react";
import { useFormState } from "../../../../../_components/action-form.client.tsx";
import { TextArea } from "../../../../../_components/fields.client.tsx";
import { withHtml } from "../../../../../_components/safe-html.ts";

/** Scripts replace the text field with an editor (decision 096). */
export function ContentField() {
  const container = useRef<HTMLDivElement>(null);
  const { preview } = useFormState();
  useEffect(() => {
    const area = container.current?.querySelector("textarea");
    let close: (() => void) | undefined;
    let isUnmounted = false;
    // If the editor cannot be loaded, the text field stays.
    import("./open-editor.client.ts").then(
      ({ openEditor }) => {
        if (area && !isUnmounted) close = openEditor(area);
      },
      () => {},
    );
    return () => {
      isUnmounted = true;
      close?.();
    };
  }, []);
  return (
    <div className="grid gap-3">
      <div ref={container}>
        <TextArea
          name="content"
          label="Content"
          isMono
          isOptional
          rows={16}
          spellCheck={false}
          wrap="off"
          className="max-h-screen min-h-80"
        />
      </div>
      {preview !== undefined && (
        <section
          ref={scrollHere}
          aria-label="Preview"
          className="min-w-0 rounded-control border border-line border-dashed px-4 py-3"
        >
          {preview ? (
            <div className="markdown" {...withHtml(preview)} />
          ) : (
            <p className="text-muted text-small">There is nothing to preview.</p>
          )}
        </section>
      )}
    </div>
  );
}

/** Scrolls to the preview, because the button for the preview is far below, at the end of the form. */
const scrollHere = (preview: HTMLElement | null) => preview?.scrollIntoView({ block: "nearest" });
