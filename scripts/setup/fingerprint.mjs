import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "./run.mjs";

/**
 * Returns a hash, which is the same for a copy or another checkout of the same files.
 * @param {string[]} paths relative to the root. A missing path changes the hash
 * @param {(path: string) => boolean} [isPart]
 */
export function fingerprint(paths, isPart = () => true) {
  const hash = createHash("sha256");
  for (const path of paths)
    for (const file of filesOf(path, isPart))
      hash
        .update(file)
        .update("\0")
        .update(readFileSync(join(root, file)));
  return hash.digest("hex");
}

function filesOf(path, isPart) {
  const full = join(root, path);
  if (!isPart(path) || !existsSync(full)) return [];
  if (!statSync(full).isDirectory()) return [path];
  return readdirSync(full)
    .sort()
    .flatMap((name) => filesOf(`${path}/${name}`, isPart));
}

export function readStamp(path) {
  return existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : undefined;
}

export function writeStamp(path, value) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), value);
}
