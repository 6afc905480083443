import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import type { Node } from "typescript/unstable/ast";
import * as ts from "typescript/unstable/ast";
import { API } from "typescript/unstable/sync";

/** `npm run strings` reads the sources without running them, so it also lists a few strings that only programs read. */
const ROOT = join(import.meta.dirname, "..");
export const STRINGS = join(ROOT, "docs/strings.txt");
const READ = ["app", "api", "core", "packages/*/src", "pages", "server", "supervisor.ts", "worker", "scripts"];
const EXCLUDED = [
  "**/*.test.ts",
  "**/*.test.tsx",
  "**/testing",
  "core/generated",
  "scripts/prose",
  "scripts/test",
  "core/telemetry",
];

/** Strings that only programs read, and log messages for programmers. */
const FOR_PROGRAMS = {
  attributes:
    /class|href|path$|^(id|key|name|rel|type|viewBox|d|htmlFor|srcSet|sizes|allow|sandbox|content|media)$|^aria-(labelledby|controls|describedby)/i,
  properties:
    /^(operationId|className|class|href|path|url|authorization|userAgent|Vary|pattern|msg|sql|key|id|type|kind|event)$/i,
  calls:
    /^(AssertionError|\w+\.query|\w*Raw\w*|debug|fatal|trace|cx|RegExp|setHeader|fetch|exec\w*|spawn\w*|includes|startsWith|split)$/,
};
const LABELS =
  /^(title|label|legend|hint|description|summary|placeholder|alt|aria-label|trigger|confirm|text|note|term|heading|verb|word|name)$/;

export function userStrings(): string {
  const folder = mkdtempSync(join(tmpdir(), "strings-"));
  const config = join(folder, "tsconfig.json");
  const under = (paths: string[]) => paths.map((path) => join(ROOT, path));
  const compilerOptions = {
    noResolve: true,
    noLib: true,
    types: [],
    jsx: "preserve",
    allowImportingTsExtensions: true,
    noEmit: true,
  };
  writeFileSync(config, JSON.stringify({ compilerOptions, include: under(READ), exclude: under(EXCLUDED) }));
  const api = new API({ cwd: ROOT });
  try {
    const project = api.updateSnapshot({ openProjects: [config] }).getProjects()[0];
    return (project?.rootFiles ?? [])
      .map((file) => ({ path: relative(ROOT, file), source: project?.program.getSourceFile(file) }))
      .sort((a, b) => (a.path < b.path ? -1 : 1))
      .map(({ path, source }) => ({ path, found: source ? [...new Set(stringsIn(source))] : [] }))
      .filter(({ found }) => found.length > 0)
      .map(({ path, found }) => `${path}\n${found.map((text) => `  ${text}\n`).join("")}`)
      .join("\n");
  } finally {
    api.close();
    rmSync(folder, { recursive: true });
  }
}

function stringsIn(node: Node, name?: string): string[] {
  const inside = (name?: string): string[] => {
    const found: string[] = [];
    node.forEachChild((child) => void found.push(...stringsIn(child, name)));
    return found;
  };
  if (
    ts.isImportDeclaration(node) ||
    ts.isExportDeclaration(node) ||
    ts.isLiteralTypeNode(node) ||
    ts.isTaggedTemplateExpression(node)
  )
    return [];
  if (ts.isJsxAttribute(node)) {
    const attribute = node.name.getText();
    return FOR_PROGRAMS.attributes.test(attribute) ? [] : inside(attribute);
  }
  if (ts.isPropertyAssignment(node)) {
    const property = node.name.getText();
    return FOR_PROGRAMS.properties.test(property) ? [] : inside(property);
  }
  // Joined lines are listed one by one, without the separator.
  if (ts.isCallExpression(node) && calledName(node.expression) === "join") return stringsIn(node.expression);
  if (ts.isCallExpression(node) || ts.isNewExpression(node))
    return FOR_PROGRAMS.calls.test(calledName(node.expression)) ? [] : inside();
  if (ts.isBinaryExpression(node) && /^[!=]==?$/.test(node.operatorToken.getText())) return [];
  if (ts.isJsxElement(node) || ts.isJsxFragment(node)) {
    const isText = node.children.some((child) => ts.isJsxText(child) && /\w/.test(child.text));
    return [...(isText ? [textOf(node)] : []), ...inside()].filter((text) => /[A-Za-z]{2}/.test(text));
  }
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateExpression(node)) {
    const text = textOf(node);
    return [...(isSentence(text) || (LABELS.test(name ?? "") && /^[A-Z][a-z]+$/.test(text)) ? [text] : []), ...inside()];
  }
  return inside(ts.isConditionalExpression(node) || ts.isJsxExpression(node) ? name : undefined);
}

const nameOf = (node: Node): string =>
  ts.isPropertyAccessExpression(node) ? node.name.text : ts.isIdentifier(node) ? node.text : "";

/** Returns `db.query` for a method `query`, which takes SQL, unlike for a function of that name. */
const calledName = (node: Node): string =>
  ts.isPropertyAccessExpression(node) && node.name.text === "query" ? "db.query" : nameOf(node);

function textOf(node: Node): string {
  if (ts.isJsxText(node)) return node.text.replace(/\s+/g, " ");
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text.replace(/\s+/g, " ");
  if (ts.isTemplateExpression(node)) {
    const parts = node.templateSpans.map((span) => `${placeholder(span.expression)}${span.literal.text}`);
    return `${node.head.text}${parts.join("")}`.replace(/\s+/g, " ");
  }
  if (ts.isJsxElement(node) || ts.isJsxFragment(node)) return node.children.map(textOf).join("").trim();
  if (ts.isJsxExpression(node)) return node.expression ? placeholder(node.expression) : "";
  return ts.isJsxSelfClosingElement(node) ? " " : "";
}

function placeholder(node: Node): string {
  if (ts.isStringLiteral(node)) return node.text;
  if (ts.isConditionalExpression(node)) return `(${placeholder(node.whenTrue)}|${placeholder(node.whenFalse)})`;
  return ts.isIdentifier(node) || ts.isPropertyAccessExpression(node) ? `{${nameOf(node)}}` : "{…}";
}

const STATEMENT = [
  /\b(SELECT|INSERT|UPDATE|DELETE|ALTER|CREATE|JOIN|WHERE|COMMIT|NOT NULL)\b|now\(\)|\bis null\b|\w\.\w+ (IN|DESC|=|AS) |exists \(select/,
  /^(select|set local|insert into|delete from|update \w+ (s )?set|with \w+ as|begin;|lock table|(alter|create|drop) (table|role|database|index))\b/,
  /^begin isolation|^copy .*(stdin|stdout)$|::(bigint|date|float8|int|name|regclass|text)\b|::1 |:x:|^\w+ where id$|^commit refs/,
  /="|^\S*=\S+$|; charset=|-c enable_|\[type=|filter=lfs|\{"|\$\(|^(\/|---|:root|HTTP\/|#|event:|id:|retry:|import |const |npm )/,
  /^--\S+( <|=)|^git (add|checkout|clone|fetch|merge|push|remote) /,
  /^use (client|server)$/,
];

function isSentence(text: string): boolean {
  const known = text.replace(/\{[^}]*\}/g, "").trim();
  const words = known.match(/(?<![\w-])[A-Za-z][a-z']*(?![\w-])/g) ?? [];
  const isClasses =
    !/[A-Z.,?]/.test(text) && /(^|\s)(\w+:)?-?[a-z]+-[\w[]/.test(text) && !/\b(an?|the|of|to|in|for|is|your)\b/.test(text);
  const isList = words.length > 40 && !/[.,]/.test(text);
  return words.length > 1 && / /.test(text) && !isClasses && !isList && !STATEMENT.some((pattern) => pattern.test(known));
}

if (import.meta.main) writeFileSync(STRINGS, userStrings());
