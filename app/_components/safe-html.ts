import type { SafeHtml } from "#core/hub/markdown/render-markdown.ts";

export type { SafeHtml };

/** Only core/hub/markdown and code-view.tsx may create `SafeHtml`. React elements would block the event loop for up to half a second. */
export const withHtml = (html: SafeHtml) => ({ dangerouslySetInnerHTML: { __html: html } });
