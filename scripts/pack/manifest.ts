import { compiledPath } from "./compile.ts";

/** What of a package.json of ours is read here. */
export type Manifest = {
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

/**
 * The package.json that outsiders get: the workspace's names TypeScript sources, this one what they were compiled to.
 * @param sdk the SDK's, for a package that carries it: what that needs is then this one's to bring.
 */
export function publishedManifest(source: Manifest, sdk?: Manifest): Record<string, unknown> {
  const { name, version, description, license, engines, keywords, sideEffects, exports, bin, dependencies = {} } = source;
  const carries = sdk !== undefined && sdk.name in dependencies ? sdk : undefined;
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
    dependencies: sorted({ ...carries?.dependencies, ...dependencies, ...(carries && { [carries.name]: carries.version }) }),
    // The tarball's address is that of a service, not of a registry that would have the SDK too.
    ...(carries && { bundleDependencies: [carries.name] }),
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
