import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Nodes, Root } from "hast";
import type { RootContent } from "mdast";
import remarkGfm from "remark-gfm";
import remarkParse from "remark-parse";
import { unified } from "unified";
import { describe, expect, test } from "vitest";
import { PLACEHOLDER_ORIGIN } from "#core/docs/fill-in.ts";
import { guides } from "#core/docs/guides.ts";
import { renderGuide } from "#core/docs/render-guide.ts";

const ROOT = import.meta.dirname;
const filling = { origin: PLACEHOLDER_ORIGIN, brand: "Keyhook", vendor: "keyhook", tokenPrefix: "kh_" };

const tracked = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { cwd: ROOT, encoding: "utf8" })
  .split("\n")
  .filter((path) => path !== "" && existsSync(join(ROOT, path)));
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const documents = tracked.filter((path) => path.endsWith(".md"));
const sources = tracked.filter(
  (path) => /\.(tsx?|mjs|json)$/.test(path) && path !== "package-lock.json" && statSync(join(ROOT, path)).size < 1e6,
);

function linksOf(nodes: readonly RootContent[]): string[] {
  return nodes.flatMap((node) => [
    ...(node.type === "link" || node.type === "image" || node.type === "definition" ? [node.url] : []),
    ...("children" in node ? linksOf(node.children as RootContent[]) : []),
  ]);
}

const anchors = new Map<string, ReadonlySet<string>>();
function anchorsOf(path: string): ReadonlySet<string> {
  const known = anchors.get(path) ?? new Set(idsOf(renderGuide(read(path), path, filling).tree));
  anchors.set(path, known);
  return known;
}

function idsOf(node: Root | Nodes): string[] {
  const own = node.type === "element" && typeof node.properties.id === "string" ? [node.properties.id] : [];
  return [...own, ...("children" in node ? node.children.flatMap(idsOf) : [])];
}

function faultOf(link: string, from: string): string | undefined {
  if (link.startsWith(`${PLACEHOLDER_ORIGIN}/`)) return faultOfPage(link.slice(PLACEHOLDER_ORIGIN.length));
  if (/^[a-z][a-z0-9+.-]*:/i.test(link)) return undefined;
  if (link.startsWith("/")) return "begins with /, whose target depends on where the document is read";
  const [file = "", anchor] = link.split("#");
  const path = file === "" ? from : join(dirname(from), decodeURIComponent(file));
  if (!existsSync(join(ROOT, path))) return "there is no such file";
  if (anchor !== undefined && path.endsWith(".md") && !anchorsOf(path).has(anchor)) return "there is no such heading";
  return undefined;
}

function faultOfPage(address: string): string | undefined {
  const { pathname, hash } = new URL(address, PLACEHOLDER_ORIGIN);
  const slug = /^\/docs\/([^/]+)$/.exec(pathname)?.[1];
  const guide = guides.find((one) => one.slug === slug);
  if (guide) {
    if (!existsSync(join(ROOT, guide.path))) return `${guide.path} is not there`;
    return hash !== "" && !anchorsOf(guide.path).has(hash.slice(1)) ? "there is no such heading" : undefined;
  }
  if (pathname !== "/docs" && !pathname.startsWith("/docs/")) return undefined;
  return existsSync(join(ROOT, "app", pathname, "page.tsx")) ? undefined : "there is no such page";
}

describe("every link leads somewhere", () => {
  test("from documents to files, to headings, and to pages of the documentation", () => {
    const broken = documents.flatMap((path) =>
      linksOf(unified().use(remarkParse).use(remarkGfm).parse(read(path)).children).flatMap((link) => {
        const fault = faultOf(link, path);
        return fault ? [`${path}: ${link}: ${fault}`] : [];
      }),
    );
    expect(broken).toEqual([]);
  });

  test("from the pages to the documentation", () => {
    const broken = tracked
      .filter((path) => /^app\/.*\.tsx?$/.test(path))
      .flatMap((path) =>
        [...read(path).matchAll(/["'`](\/docs(?:\/[\w-]+)*(?:#[\w-]+)?)["'`]/g)].flatMap(([, address = ""]) => {
          const fault = faultOfPage(address);
          return fault ? [`${path}: ${address}: ${fault}`] : [];
        }),
      );
    expect(broken).toEqual([]);
  });

  test("from sources to the documents and headings that they name", () => {
    const broken = sources.flatMap((path) =>
      [...read(path).matchAll(/(?<![\w/.-])docs\/[\w/-]+\.md(?:#[\w-]+)?\b/g)].flatMap(([named]) => {
        const fault = path.includes("render-markdown") ? undefined : faultOf(named, "README.md");
        return fault ? [`${path}: ${named}: ${fault}`] : [];
      }),
    );
    expect(broken).toEqual([]);
  });
});

test("the files to which ARCHITECTURE.md links contain the names that it gives", () => {
  const named = [...read("ARCHITECTURE.md").matchAll(/\[(`[^\]]+`)\]\(([^)#]+\.ts)\)/g)].flatMap(([, names = "", file = ""]) =>
    [...names.matchAll(/`(\w+)`/g)].map(([, name = ""]) => ({ name, file })),
  );
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter(({ name, file }) => !new RegExp(`\\b${name}\\b`).test(read(file)))).toEqual([]);
});

test("every decision record has a date and a status, and is in the index", () => {
  const index = "docs/decisions/README.md";
  const linked = new Set(linksOf(unified().use(remarkParse).use(remarkGfm).parse(read(index)).children));
  const faults = documents
    .filter((path) => /^docs\/decisions\/\d{3}-/.test(path))
    .flatMap((path) => [
      ...(/^# .+\n\nDate: \d{4}-\d{2}-\d{2}\n\nStatus: \S.*\n/.test(read(path)) ? [] : [`${path}: no date and status`]),
      ...(linked.has(basename(path)) ? [] : [`${path}: not in ${index}`]),
    ]);
  expect(faults).toEqual([]);
});

describe("docs/security.md", () => {
  const path = "docs/security.md";
  const text = existsSync(join(ROOT, path)) ? read(path) : "";
  const [preface = "", ...parts] = text.split(/^### (?=S\d+$)/m);
  const statements = parts.map((part) => ({ name: part.slice(0, part.indexOf("\n")), named: pathsIn(part) }));

  function pathsIn(part: string): string[] {
    return [...part.matchAll(/`([\w.-]+(?:\/[\w.[\]()-]+)+|[\w-]+\.(?:ts|md|js))`/g)].map(([, named = ""]) => named);
  }

  test("has every statement that the code and the documents cite, once and in order", () => {
    const names = statements.map(({ name }) => name);
    expect(names).toEqual(names.map((_, index) => `S${index + 1}`));
    const unknown = tracked
      .filter(
        (file) => !/\.(png|webp|svg|woff2?|gz|ico)$|package-lock\.json$/.test(file) && statSync(join(ROOT, file)).size < 1e6,
      )
      .flatMap((file) => {
        // S256 is a method of PKCE (RFC 7636).
        const cited = new Set([...read(file).matchAll(/\bS\d{1,3}\b/g)].map(([name]) => name).filter((name) => name !== "S256"));
        return [...cited].filter((name) => !names.includes(name)).map((name) => `${file}: ${name}`);
      });
    expect(unknown).toEqual([]);
  });

  test("says what bounds each table of the database, and names no other table", () => {
    const tables = [...read("prisma/schema.prisma").matchAll(/@@map\("(\w+)"\)/g)].map(([, table = ""]) => table);
    const [, section = ""] = /^## What bounds each table\n([\s\S]*?)^## /m.exec(text) ?? [];
    const named = [...section.matchAll(/^\| (`[^|]*)\|/gm)].flatMap(([, cell = ""]) =>
      [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name),
    );
    expect(named.toSorted()).toEqual(tables.toSorted());
  });

  test("names only existing files, and for every statement some code and a test that cites the statement", () => {
    const gone = [preface, ...parts].flatMap(pathsIn).filter((named) => !existsSync(join(ROOT, named)));
    expect(gone).toEqual([]);
    const isTest = (named: string) => /\.(test|spec)\.ts$/.test(named);
    // The tests of S35 examine every screen, and do not cite the statement.
    const isCited = (name: string, test: string) => name === "S35" || new RegExp(`\\b${name}\\b`).test(read(test));
    const unheld = statements.filter(
      ({ name, named }) => named.every(isTest) || !named.some((file) => isTest(file) && isCited(name, file)),
    );
    expect(unheld.map(({ name }) => name)).toEqual([]);
  });
});
