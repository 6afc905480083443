import { posix } from "node:path";
import { PLACEHOLDER_ORIGIN } from "./fill-in.ts";
import { guides } from "./guides.ts";

/** Where a guide's link leads: on this site, to another site, or to a file of the repository without a page here. */
export type GuideAddress = { kind: "page" | "elsewhere"; href: string } | { kind: "source"; path: string };

/**
 * @param href as in the Markdown: relative to its file, or absolute. Pages of the service are written with the placeholder's origin, so
 * that they also work from the file.
 * @param from the file's path from the project's root
 */
export function guideAddress(href: string, from: string): GuideAddress {
  if (href.startsWith("#")) return { kind: "page", href };
  if (href === PLACEHOLDER_ORIGIN || href.startsWith(`${PLACEHOLDER_ORIGIN}/`)) {
    return { kind: "page", href: href.slice(PLACEHOLDER_ORIGIN.length) || "/" };
  }
  if (/^[a-z][a-z0-9+.-]*:/i.test(href)) return { kind: "elsewhere", href };
  const [file = "", hash] = href.split("#");
  const path = posix.join(posix.dirname(from), file).replace(/\/$/, "");
  const target = guides.find((guide) => guide.path === path || guide.path === `${path}/README.md`);
  if (!target) return { kind: "source", path };
  return { kind: "page", href: `/docs/${target.slug}${hash === undefined ? "" : `#${hash}`}` };
}
