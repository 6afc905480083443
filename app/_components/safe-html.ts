import type { SafeHtml } from "#core/hub/markdown/render-markdown.ts";

export type { SafeHtml };

/** Only core/hub/markdown and code-view.tsx may create `SafeHtml`. React elements for a long text would block the event loop. */
export const withHtml = (html: SafeHtml) => ({ dangerouslySetInnerHTML: { __html: html } });
