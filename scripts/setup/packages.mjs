import { existsSync } from "node:fs";
import { join } from "node:path";
import { fingerprint, readStamp, writeStamp } from "./fingerprint.mjs";
import { root, run } from "./run.mjs";

const SOURCES = ["packages", "scripts/pack", "LICENSE", "package-lock.json", "tsconfig.json"];
const isSource = (path) => !/(^|\/)(node_modules|testing)$|\.test\.tsx?$/.test(path);
const STAMP = "build/packages/.built";
const made = ["sdk", "cli", "receiver"].map((name) => join(root, `build/packages/keyhook-${name}.tgz`));

/** Packs what outsiders install, for the service to serve, unless it was packed from these sources. */
export function packPackages(say) {
  const wanted = fingerprint(SOURCES, isSource);
  if (readStamp(STAMP) === wanted && made.every((path) => existsSync(path))) return;
  say("packing the packages (npm run pack)");
  run("node", ["scripts/pack.ts"]);
  writeStamp(STAMP, wanted);
}
