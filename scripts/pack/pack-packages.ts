import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { delimiter, dirname, join, relative } from "node:path";

export const ROOT = join(import.meta.dirname, "../..");

/** The SDK comes first, because the other packages bundle it. */
const PACKAGES = ["sdk", "cli", "receiver"] as const;
type Package = (typeof PACKAGES)[number];

/** server/downloads.ts reads this folder. */
const OUT = join(ROOT, "build/packages");

export function packPackages(): string[] {
  mkdirSync(OUT, { recursive: true });
  // The work folder is beside the destination, so that a rename publishes complete files.
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
  const isBundlingSdk = name !== "sdk";
  mkdirSync(stage, { recursive: true });
  compile({
    source: join(source, "src"),
    out: join(stage, "dist"),
    sdkTypes: isBundlingSdk ? join(work, "sdk/dist/index.d.ts") : undefined,
  });
  for (const path of Object.values(manifest.bin ?? {})) makeProgram(join(stage, compiledPath(path, ".js")));
  writeFileSync(
    join(stage, "package.json"),
    `${JSON.stringify(publishedManifest(manifest, isBundlingSdk ? readManifest(join(ROOT, "packages/sdk")) : undefined), null, 2)}\n`,
  );
  const readme = join(source, "README.md");
  writeFileSync(
    join(stage, "README.md"),
    existsSync(readme) ? readFileSync(readme) : `# ${manifest.name}\n\n${manifest.description}.\n`,
  );
  cpSync(join(ROOT, "LICENSE"), join(stage, "LICENSE"));
  rmSync(join(stage, "tsconfig.json"));
  if (isBundlingSdk) bundleSdk(join(work, "sdk"), join(stage, "node_modules/@keyhook/sdk"));
  return putInPlace(name, stage);
}

/** The bundled SDK declares no dependencies, because npm would treat these as bundled too, and leave empty folders. */
function bundleSdk(sdk: string, target: string): void {
  cpSync(sdk, target, { recursive: true });
  const { dependencies: _, ...manifest } = readManifest(sdk);
  writeFileSync(join(target, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}

const readManifest = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));

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

type Manifest = {
  name: string;
  version: string;
  description: string;
  license: string;
  engines: Record<string, string>;
  keywords?: string[];
  sideEffects?: boolean | string[];
  exports?: Record<string, string>;
  bin?: Record<string, string>;
  dependencies?: Record<string, string>;
};

/** @param sdk the package.json of a bundled SDK, whose dependencies become dependencies of this package */
function publishedManifest(source: Manifest, sdk?: Manifest): Record<string, unknown> {
  const { name, version, description, license, engines, keywords, sideEffects, exports, bin, dependencies = {} } = source;
  const bundled = sdk !== undefined && sdk.name in dependencies ? sdk : undefined;
  return {
    name,
    version,
    description,
    license,
    ...(keywords && { keywords }),
    type: "module",
    engines,
    ...(exports && { sideEffects: sideEffects ?? false, exports: publishedExports(exports) }),
    ...(bin && { bin: Object.fromEntries(Object.entries(bin).map(([command, path]) => [command, compiledPath(path, ".js")])) }),
    files: ["dist"],
    dependencies: sorted({ ...bundled?.dependencies, ...dependencies, ...(bundled && { [bundled.name]: bundled.version }) }),
    // The tarball contains the SDK, because it does not come from a registry in which npm would find the SDK.
    ...(bundled && { bundleDependencies: [bundled.name] }),
  };
}

function publishedExports(exports: Record<string, string>): Record<string, unknown> {
  const entries = Object.entries(exports).map(([name, path]) => [
    name,
    path.endsWith(".ts") ? { types: compiledPath(path, ".d.ts"), default: compiledPath(path, ".js") } : path,
  ]);
  return { ...Object.fromEntries(entries), "./package.json": "./package.json" };
}

const sorted = (record: Record<string, string>) =>
  Object.fromEntries(Object.entries(record).sort(([one], [other]) => (one < other ? -1 : 1)));

type Compiled = {
  source: string;
  out: string;
  /** The declarations of `@keyhook/sdk`, for packages that bundle the SDK. */
  sdkTypes?: string | undefined;
};

const isPublished = (path: string): boolean => !/\.test\.tsx?$|(^|\/)testing(\/|$)/.test(path);

function compile({ source, out, sdkTypes }: Compiled): void {
  const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter(
    (path) => isPublished(path) && statSync(join(source, path)).isFile(),
  );
  const config = join(dirname(out), "tsconfig.json");
  writeFileSync(
    config,
    JSON.stringify({
      extends: join(ROOT, "tsconfig.json"),
      compilerOptions: {
        // Syntax that Node 20 and current browsers support.
        target: "es2022",
        noEmit: false,
        incremental: false,
        declaration: true,
        rewriteRelativeImportExtensions: true,
        plugins: [],
        typeRoots: [join(ROOT, "node_modules/@types")],
        rootDir: source,
        outDir: out,
        // Without this, the compiler would compile the workspace's SDK into this package too.
        ...(sdkTypes && { paths: { "@keyhook/sdk": [sdkTypes] } }),
      },
      include: [],
      files: files.filter((path) => path.endsWith(".ts")).map((path) => join(source, path)),
    }),
  );
  runProgram("tsc", ["--project", config]);
  for (const path of globSync("**/*.d.ts", { cwd: out })) rewriteImports(join(out, path));
  for (const path of files.filter((path) => !path.endsWith(".ts"))) {
    mkdirSync(dirname(join(out, path)), { recursive: true });
    copyFileSync(join(source, path), join(out, path));
  }
}

/** The compiler rewrites `./x.ts` in JavaScript, but not in declarations, where the path would lead to a missing source. */
function rewriteImports(path: string): void {
  const text = readFileSync(path, "utf8");
  const imports = /(\bfrom\s*|\bimport\s*\(?\s*)(["'])(\.{1,2}\/[^"'\n]+)\.ts\2/g;
  writeFileSync(
    path,
    text.replace(imports, (_whole, before, quote, target) => `${before}${quote}${target}.js${quote}`),
  );
}

function compiledPath(path: string, extension: ".js" | ".d.ts"): string {
  return `./dist/${relative("src", path).replace(/\.ts$/, extension)}`;
}

export function runProgram(program: string, args: string[], cwd = ROOT): void {
  const { status, signal, error, stdout, stderr } = spawnSync(program, args, {
    cwd,
    encoding: "utf8",
    env: { ...process.env, PATH: [join(ROOT, "node_modules/.bin"), process.env.PATH].join(delimiter) },
  });
  if (status === 0) return;
  throw new Error(`${program} failed: ${error?.message ?? `it ended with ${signal ?? status}`}\n${stdout ?? ""}${stderr ?? ""}`);
}

function runNpm(args: string[], cwd: string): void {
  const npm = process.env.npm_execpath;
  if (npm) runProgram(process.execPath, [npm, ...args], cwd);
  else runProgram("npm", args, cwd);
}
