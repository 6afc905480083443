import type { Element, ElementContent, Root } from "hast";
import { DEFAULT_ID_PREFIX, type MarkdownPlace } from "./place.ts";

/** Stands for the repository while an address is read the way a browser reads it: `\`, `..`, `//host` and spaces included. */
const HERE = "http://repository.invalid";
/** What reading the addresses of one text may cost, in characters of the folder that they are read against. */
const READ_MAX_CHARACTERS = 4 * 1024 * 1024;

/**
 * Leads relative addresses into the repository, at the revision that is looked at, and takes images of other sites out: a page
 * that loads them would tell those sites who reads it (S24). Ids of the text have a prefix; links to them get it too.
 * @throws Error before a folder with a very long name makes it slow: how long a text takes must follow from the text (render-markdown.ts)
 */
export function resolveAddresses(tree: Root, place: MarkdownPlace): void {
  const folder = folderOf(place);
  let read = 0;
  visit(tree, false);

  function visit(parent: Root | Element, isInLink: boolean): void {
    parent.children = (parent.children as ElementContent[]).map((child) => {
      if (child.type !== "element") return child;
      if (child.tagName === "img" || child.tagName === "a") {
        read += folder.length;
        if (read > READ_MAX_CHARACTERS) throw new Error("too large");
      }
      if (child.tagName === "img") return imageOf(child, folder, place, isInLink);
      if (child.tagName === "a") resolveLink(child, folder, place);
      visit(child, isInLink || child.tagName === "a");
      return child;
    });
  }
}

function resolveLink({ properties }: Element, folder: string, place: MarkdownPlace): void {
  const { href } = properties;
  if (typeof href !== "string") return;
  const { idPrefix = DEFAULT_ID_PREFIX } = place;
  if (href.startsWith("#")) {
    properties.href = `#${idPrefix}${href.slice(1)}`;
    return;
  }
  const target = readAddress(href, folder);
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

function imageOf(image: Element, folder: string, place: MarkdownPlace, isInLink: boolean): ElementContent {
  const { src, alt } = image.properties;
  const words = typeof alt === "string" ? alt : "";
  const target = typeof src === "string" ? readAddress(src, folder) : undefined;
  if (target?.origin === HERE) {
    const resolved = inRepository(target, place, "resolve");
    if (resolved) return { ...image, properties: { ...image.properties, src: resolved, alt: words, loading: "lazy" } };
  }
  const said = { type: "text" as const, value: words || "image" };
  if (isInLink || !target || !/^https?:$/.test(target.protocol) || target.origin === HERE) return said;
  const properties = { href: target.href, rel: ["nofollow", "noopener", "ugc"] };
  return { type: "element", tagName: "a", properties, children: [said] };
}

const folderOf = ({ folder = "" }: MarkdownPlace): string =>
  [HERE, ...folder.split("/").filter(Boolean).map(encodeURIComponent), ""].join("/");

function readAddress(address: string, folder: string): URL | undefined {
  try {
    return new URL(address, folder);
  } catch {
    return undefined;
  }
}

function inRepository({ pathname }: URL, { base, revision }: MarkdownPlace, page: "blob" | "resolve"): string | undefined {
  if (base === undefined || revision === undefined) return undefined;
  const path = pathname.slice(1).replace(/(?<!\/)\/+$/, "");
  if (path === "" || path.startsWith("/")) return page === "blob" ? base : undefined;
  return `${base}/${page}/${encodeURIComponent(revision)}/${path}`;
}
