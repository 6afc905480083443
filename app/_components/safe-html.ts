import type { SafeHtml } from "#core/hub/markdown/render-markdown.ts";

export type { SafeHtml };

/**
 * The properties of an element whose content is HTML. Only what was laid out by core/hub/markdown has this type; nothing else may be
 * set as HTML. An object for each of its elements, as React makes them, would keep the event loop busy for half a second at worst.
 */
export const withHtml = (html: SafeHtml) => ({ dangerouslySetInnerHTML: { __html: html } });
