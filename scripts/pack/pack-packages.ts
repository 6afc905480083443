import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { compile, compiledPath } from "./compile.ts";
import { type Manifest, publishedManifest } from "./manifest.ts";
import { ROOT, runNpm } from "./run-program.ts";

/** In this order: the others carry the SDK. */
const PACKAGES = ["sdk", "cli", "receiver"] as const;
type Package = (typeof PACKAGES)[number];

/** Where the service looks for them (server/downloads.ts). */
const OUT = join(ROOT, "build/packages");

/** Makes `build/packages/keyhook-{sdk,cli,receiver}.tgz`, each installable alone, and returns their paths. */
export function packPackages(): string[] {
  mkdirSync(OUT, { recursive: true });
  // Beside where they go, so that a rename puts them there whole.
  const work = mkdtempSync(join(OUT, ".stage-"));
  try {
    return PACKAGES.map((name) => pack(name, work));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function pack(name: Package, work: string): string {
  const source = join(ROOT, "packages", name);
  const stage = join(work, name);
  const manifest = readManifest(source);
  const isCarrying = name !== "sdk";
  mkdirSync(stage, { recursive: true });
  compile({
    source: join(source, "src"),
    out: join(stage, "dist"),
    sdkTypes: isCarrying ? join(work, "sdk/dist/index.d.ts") : undefined,
  });
  for (const path of Object.values(manifest.bin ?? {})) makeProgram(join(stage, compiledPath(path, ".js")));
  writeFileSync(
    join(stage, "package.json"),
    `${JSON.stringify(publishedManifest(manifest, isCarrying ? readManifest(join(ROOT, "packages/sdk")) : undefined), null, 2)}\n`,
  );
  const readme = join(source, "README.md");
  writeFileSync(
    join(stage, "README.md"),
    existsSync(readme) ? readFileSync(readme) : `# ${manifest.name}\n\n${manifest.description}.\n`,
  );
  cpSync(join(ROOT, "LICENSE"), join(stage, "LICENSE"));
  rmSync(join(stage, "tsconfig.json"));
  if (isCarrying) carrySdk(join(work, "sdk"), join(stage, "node_modules/@keyhook/sdk"));
  return putInPlace(name, stage);
}

/**
 * The SDK as a part of another package. It names nothing that it needs: npm takes what a bundled package needs for bundled too, and
 * leaves an empty folder of it; the package that carries it brings that (scripts/pack/manifest.ts).
 */
function carrySdk(sdk: string, target: string): void {
  cpSync(sdk, target, { recursive: true });
  const { dependencies: _, ...manifest } = readManifest(sdk);
  writeFileSync(join(target, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}

const readManifest = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));

/** A program needs the line that names its interpreter. */
function makeProgram(path: string): void {
  const text = readFileSync(path, "utf8");
  if (!text.startsWith("#!")) writeFileSync(path, `#!/usr/bin/env node\n${text}`);
  chmodSync(path, 0o755);
}

function putInPlace(name: Package, stage: string): string {
  runNpm(["pack", "--ignore-scripts", "--loglevel=error"], stage);
  const made = readdirSync(stage).find((file) => file.endsWith(".tgz"));
  if (!made) throw new Error(`npm packed nothing of ${name}`);
  const path = join(OUT, `keyhook-${name}.tgz`);
  renameSync(join(stage, made), path);
  return path;
}
