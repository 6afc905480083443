import type { SafeHtml } from "#core/hub/markdown/render-markdown.ts";

export type { SafeHtml };

/**
 * Only core/hub/markdown and the line numbers of code-view.tsx may create `SafeHtml`. React elements for the whole tree would block the
 * event loop for up to half a second.
 */
export const withHtml = (html: SafeHtml) => ({ dangerouslySetInnerHTML: { __html: html } });
