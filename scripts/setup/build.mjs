import { existsSync, readdirSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress } from "node:zlib";
import { fingerprint, readStamp, writeStamp } from "./fingerprint.mjs";
import { root, run } from "./run.mjs";

/** Runs a step unless it was done for the same sources and its results exist. */
async function once(step, { stamp, sources, isSource, results = [] }, line, work) {
  const wanted = fingerprint(sources, isSource);
  if (readStamp(stamp) === wanted && results.every((path) => existsSync(join(root, path)))) return;
  await step(line, () => work(wanted));
  writeStamp(stamp, wanted);
}

/**
 * Prisma would download an engine that only its migration commands need; generating a client does not use that engine. Any program that
 * exits with 0 can replace it, so that a machine without internet access works too.
 */
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

/** The sources of the pages. Other files of the web process are left out, because they are not built. */
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

/**
 * Builds the pages for production. Builds of the same sources get the same IDs: machines that share an installation may each build the
 * pages, and the form of one machine's page may be sent to another machine (docs/decisions/104). By default, Next uses a random build ID
 * and a random key, from which it derives the IDs of forms. The key here is public; at run time the service uses another key
 * (core/instance/run-service.ts).
 */
export function buildPages(step) {
  return once(step, pages, "building the pages (next build)", async (sources) => {
    const NEXT_SERVER_ACTIONS_ENCRYPTION_KEY = Buffer.from(sources, "hex").toString("base64");
    await run("next", ["build"], { NODE_ENV: "production", BUILD_SOURCES: sources, NEXT_SERVER_ACTIONS_ENCRYPTION_KEY });
    await compressScripts();
  });
}

/** Writes a brotli copy of each script and style sheet, which the web process sends to browsers that accept it (server/dispatch.ts). */
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

/** Packs the packages for outsiders and writes the SDK's reference, which the service serves. */
export function packPackages(step) {
  return once(step, packages, "packing the packages (npm run pack)", () => run("node", ["scripts/pack.ts"]));
}
