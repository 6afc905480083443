import type { TestKind } from "@keyhook/sdk";

/** The place of a kind of events in the event catalog (docs/guides/events.md), with a sample payload. */
export function eventDocsHref(kind: TestKind): string {
  const dot = kind.lastIndexOf(".");
  // As rehype-slug makes it of the heading `repo.content` · `update`.
  return `/docs/events#${kind.slice(0, dot).replaceAll(".", "")}--${kind.slice(dot + 1)}`;
}
