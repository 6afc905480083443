import type { Element, ElementContent, Root } from "hast";

export type MarkdownContext = {
  base?: string;
  revision?: string;
  folder?: string;
  /** Different for each text on a page, in lower-case letters, digits and `-`. */
  idPrefix?: string;
};

export const DEFAULT_ID_PREFIX = "md-";

/** Stands for the repository, so that URLs are parsed as in a browser. */
const HERE = "http://repository.invalid";
const READ_MAX_CHARACTERS = 4 * 1024 * 1024;

/**
 * Images of other sites would tell those sites who reads the page (S24).
 * @throws Error if a long folder name would make this slow, because the time must depend on the text alone
 */
export function resolveAddresses(tree: Root, context: MarkdownContext): void {
  const folder = folderOf(context);
  let read = 0;
  visit(tree, false);

  function visit(parent: Root | Element, isInLink: boolean): void {
    parent.children = (parent.children as ElementContent[]).map((child) => {
      if (child.type !== "element") return child;
      if (child.tagName === "img" || child.tagName === "a") {
        read += folder.length;
        if (read > READ_MAX_CHARACTERS) throw new Error("too large");
      }
      if (child.tagName === "img") return imageOf(child, folder, context, isInLink);
      if (child.tagName === "a") resolveLink(child, folder, context);
      visit(child, isInLink || child.tagName === "a");
      return child;
    });
  }
}

function resolveLink({ properties }: Element, folder: string, context: MarkdownContext): void {
  const { href } = properties;
  if (typeof href !== "string") return;
  const { idPrefix = DEFAULT_ID_PREFIX } = context;
  if (href.startsWith("#")) {
    properties.href = `#${idPrefix}${href.slice(1)}`;
    return;
  }
  const target = readAddress(href, folder);
  const isHere = target?.origin === HERE;
  const resolved = isHere
    ? inRepository(target, context, "blob")
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

function anchorOf({ hash, pathname }: URL): string {
  return hash && /\.(md|markdown)$/i.test(pathname) ? `#${DEFAULT_ID_PREFIX}${hash.slice(1)}` : hash;
}

function imageOf(image: Element, folder: string, context: MarkdownContext, isInLink: boolean): ElementContent {
  const { src, alt } = image.properties;
  const words = typeof alt === "string" ? alt : "";
  const target = typeof src === "string" ? readAddress(src, folder) : undefined;
  if (target?.origin === HERE) {
    const resolved = inRepository(target, context, "resolve");
    if (resolved) return { ...image, properties: { ...image.properties, src: resolved, alt: words, loading: "lazy" } };
  }
  const altText = { type: "text" as const, value: words || "image" };
  if (isInLink || !target || !/^https?:$/.test(target.protocol) || target.origin === HERE) return altText;
  const properties = { href: target.href, rel: ["nofollow", "noopener", "ugc"] };
  return { type: "element", tagName: "a", properties, children: [altText] };
}

const folderOf = ({ folder = "" }: MarkdownContext): string =>
  [HERE, ...folder.split("/").filter(Boolean).map(encodeURIComponent), ""].join("/");

function readAddress(address: string, folder: string): URL | undefined {
  try {
    return new URL(address, folder);
  } catch {
    return undefined;
  }
}

function inRepository({ pathname }: URL, { base, revision }: MarkdownContext, page: "blob" | "resolve"): string | undefined {
  if (base === undefined || revision === undefined) return undefined;
  const path = pathname.slice(1).replace(/(?<!\/)\/+$/, "");
  if (path === "" || path.startsWith("/")) return page === "blob" ? base : undefined;
  return `${base}/${page}/${encodeURIComponent(revision)}/${path}`;
}
