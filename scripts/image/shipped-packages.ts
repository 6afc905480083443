type Locked = {
  name?: string;
  version?: string;
  link?: boolean;
  resolved?: string;
  optional?: boolean;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
};

const WORKSPACES = ["packages/cli", "packages/receiver", "packages/sdk"];

/** Returns `name@version`. `npm sbom --omit dev` would omit packages that development dependencies also use. */
export function shippedPackages(packages: Record<string, Locked>, isInImage: (path: string) => boolean): Set<string> {
  const found = new Set<string>(["", ...WORKSPACES]);
  for (const path of found) {
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = packages[path] as Locked;
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      if (peerDependenciesMeta?.[name]?.optional) continue;
      const other = resolve(packages, path, name);
      if (other && (!packages[other]?.optional || isInImage(other))) found.add(other);
    }
  }
  return new Set([...found].map((path) => `${packages[path]?.name ?? nameOf(path)}@${packages[path]?.version}`));
}

function resolve(packages: Record<string, Locked>, from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.replace(/\/?[^/]*$/, "")) {
    const path = `${folder}${folder && "/"}node_modules/${name}`;
    const locked = packages[path];
    if (locked) return locked.link ? locked.resolved : path;
    if (folder === "") return undefined;
  }
}

const nameOf = (path: string) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
