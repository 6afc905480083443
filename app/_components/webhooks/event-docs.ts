import type { TestKind } from "@keyhook/sdk";

export function eventDocsHref(kind: TestKind): string {
  const dot = kind.lastIndexOf(".");
  // The anchor that rehype-slug creates for the heading `repo.content` · `update`.
  return `/docs/events#${kind.slice(0, dot).replaceAll(".", "")}--${kind.slice(dot + 1)}`;
}
