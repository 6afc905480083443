import type { Element, ElementContent, Root } from "hast";
import { DEFAULT_ID_PREFIX, type MarkdownPlace } from "./place.ts";

/** Stands for the repository while an address is read the way a browser reads it: `\`, `..`, `//host` and spaces included. */
const HERE = "http://repository.invalid";

/**
 * Leads relative addresses into the repository, at the revision that is looked at, and takes images of other sites out: a page
 * that loads them would tell those sites who reads it (S24). Ids of the text have a prefix; links to them get it too.
 */
export function resolveAddresses(tree: Root, place: MarkdownPlace): void {
  visit(tree, false);

  function visit(parent: Root | Element, isInLink: boolean): void {
    parent.children = (parent.children as ElementContent[]).map((child) => {
      if (child.type !== "element") return child;
      if (child.tagName === "img") return imageOf(child, place, isInLink);
      if (child.tagName === "a") resolveLink(child, place);
      visit(child, isInLink || child.tagName === "a");
      return child;
    });
  }
}

function resolveLink({ properties }: Element, place: MarkdownPlace): void {
  const { href } = properties;
  if (typeof href !== "string") return;
  const { idPrefix = DEFAULT_ID_PREFIX } = place;
  if (href.startsWith("#")) {
    properties.href = `#${idPrefix}${href.slice(1)}`;
    return;
  }
  const target = readAddress(href, place);
  const isHere = target?.origin === HERE;
  const resolved = isHere
    ? inRepository(target, place, "blob")
    : target && !/^(https?|mailto):$/.test(target.protocol)
      ? undefined
      : href;
  if (resolved === undefined) {
    delete properties.href;
    return;
  }
  const anchor = isHere ? anchorOf(target) : "";
  properties.href = resolved + anchor;
  properties.rel = ["nofollow", "noopener", "ugc"];
}

/** A heading of another Markdown file is found under the prefix too. */
function anchorOf({ hash, pathname }: URL): string {
  return hash && /\.(md|markdown)$/i.test(pathname) ? `#${DEFAULT_ID_PREFIX}${hash.slice(1)}` : hash;
}

function imageOf(image: Element, place: MarkdownPlace, isInLink: boolean): ElementContent {
  const { src, alt } = image.properties;
  const words = typeof alt === "string" ? alt : "";
  const target = typeof src === "string" ? readAddress(src, place) : undefined;
  if (target?.origin === HERE) {
    const resolved = inRepository(target, place, "resolve");
    if (resolved) return { ...image, properties: { ...image.properties, src: resolved, alt: words, loading: "lazy" } };
  }
  const said = { type: "text" as const, value: words || "image" };
  if (isInLink || !target || !/^https?:$/.test(target.protocol) || target.origin === HERE) return said;
  const properties = { href: target.href, rel: ["nofollow", "noopener", "ugc"] };
  return { type: "element", tagName: "a", properties, children: [said] };
}

function readAddress(address: string, { folder = "" }: MarkdownPlace): URL | undefined {
  const at = folder.split("/").filter(Boolean).map(encodeURIComponent);
  try {
    return new URL(address, [HERE, ...at, ""].join("/"));
  } catch {
    return undefined;
  }
}

function inRepository({ pathname }: URL, { base, revision }: MarkdownPlace, page: "blob" | "resolve"): string | undefined {
  if (base === undefined || revision === undefined) return undefined;
  const path = pathname.slice(1).replace(/\/+$/, "");
  if (path === "" || path.startsWith("/")) return page === "blob" ? base : undefined;
  return `${base}/${page}/${encodeURIComponent(revision)}/${path}`;
}
