import { fingerprint, readStamp, writeStamp } from "./fingerprint.mjs";
import { run } from "./run.mjs";

/** What the pages are made from. The web process's own files are not: they run as they are. */
const SOURCES = [
  "app",
  "core",
  "instrumentation.ts",
  "packages",
  "pages",
  "public",
  "next.config.js",
  "package.json",
  "package-lock.json",
  "postcss.config.mjs",
  "tsconfig.json",
];
const isSource = (path) => !/(^|\/)(node_modules|testing)$|\.test\.tsx?$|^core\/generated\/\./.test(path);

/** Builds the pages for production, unless they were built from these sources. */
export function buildPages(say) {
  const distDir = process.env.NEXT_DIST_DIR || ".next";
  const stamp = `${distDir}/keyhook-built`;
  const wanted = fingerprint(SOURCES, isSource);
  if (readStamp(stamp) === wanted) return;
  say("building the pages (next build)");
  run("next", ["build"], { NODE_ENV: "production" });
  writeStamp(stamp, wanted);
}
