import { existsSync, readdirSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress } from "node:zlib";
import { fingerprint, readStamp, writeStamp } from "./fingerprint.mjs";
import { root, run } from "./run.mjs";

async function once(step, { stamp, sources, isSource, results = [] }, line, work) {
  const wanted = fingerprint(sources, isSource);
  if (readStamp(stamp) === wanted && results.every((path) => existsSync(join(root, path)))) return;
  await step(line, () => work(wanted));
  writeStamp(stamp, wanted);
}

/** Only Prisma's migration commands need this engine. Any program that exits with 0 can replace the engine. */
export const prismaEnvironment = {
  PRISMA_SCHEMA_ENGINE_BINARY:
    process.env.PRISMA_SCHEMA_ENGINE_BINARY ?? (existsSync("/bin/true") ? "/bin/true" : "/usr/bin/true"),
};

const client = {
  stamp: "core/generated/.keyhook-generated",
  sources: ["prisma/schema.prisma", "node_modules/prisma/package.json"],
  results: ["core/generated/prisma/client.ts"],
};

export function generateClient(step) {
  return once(step, client, "generating the database client (prisma generate)", () =>
    run("prisma", ["generate"], prismaEnvironment),
  );
}

/** Only these sources are built. The web process runs its other files as they are. */
const pages = {
  stamp: `${process.env.NEXT_DIST_DIR || ".next"}/keyhook-built`,
  sources: [
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
  ],
  isSource: (path) => !/(^|\/)(node_modules|testing)$|\.test\.tsx?$|^core\/generated\/\./.test(path),
};

/** The IDs of forms depend on this key, which is the same for the same sources (decision 104). It is not used at run time. */
export function buildPages(step) {
  return once(step, pages, "building the pages (next build)", async (sources) => {
    const NEXT_SERVER_ACTIONS_ENCRYPTION_KEY = Buffer.from(sources, "hex").toString("base64");
    await run("next", ["build"], { NODE_ENV: "production", BUILD_SOURCES: sources, NEXT_SERVER_ACTIONS_ENCRYPTION_KEY });
    await compressScripts();
  });
}

/** The web process sends the brotli copies to browsers that accept them. */
async function compressScripts() {
  const folder = join(root, process.env.NEXT_DIST_DIR || ".next", "static/chunks");
  const names = readdirSync(folder).filter((name) => /\.(js|css)$/.test(name));
  await Promise.all(
    names.map(async (name) => {
      const file = join(folder, name);
      await writeFile(`${file}.br`, await promisify(brotliCompress)(await readFile(file)));
    }),
  );
}

const packages = {
  stamp: "build/packages/.built",
  sources: ["packages", "scripts/pack", "LICENSE", "package-lock.json", "tsconfig.json"],
  isSource: (path) => !/(^|\/)(node_modules|testing)$|\.test\.tsx?$/.test(path),
  results: [...["sdk", "cli", "receiver"].map((name) => `build/packages/keyhook-${name}.tgz`), "build/sdk-reference/index.md"],
};

export function packPackages(step) {
  return once(step, packages, "packing the packages (npm run pack)", () => run("node", ["scripts/pack.ts"]));
}
