import type { SafeHtml } from "#core/hub/markdown/render-markdown.ts";

export type { SafeHtml };

/**
 * The properties of an element whose content is HTML. Only core/hub/markdown and the line numbers of code-view.tsx
 * create this type; nothing else may be set as HTML. React elements for the whole tree would block the event loop for up to half a second.
 */
export const withHtml = (html: SafeHtml) => ({ dangerouslySetInnerHTML: { __html: html } });
