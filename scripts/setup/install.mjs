import { statSync } from "node:fs";
import { join } from "node:path";
import { fingerprint, readStamp, writeStamp } from "./fingerprint.mjs";
import { prismaEnvironment } from "./generate.mjs";
import { root, run, SetupFailed, works } from "./run.mjs";

const STAMP = "node_modules/.keyhook-installed";
const NODE_MAJOR = 24;

/** Installs exactly what package-lock.json names, unless that is what is installed. */
export function installPackages(say) {
  const wanted = `${process.platform}-${process.arch} ${fingerprint(["package-lock.json"])}`;
  if (readStamp(STAMP) === wanted) return;
  if (!isInstalledByHand()) {
    say("installing packages (npm ci)");
    const args = ["ci", "--include=dev", "--no-fund", "--no-audit", "--loglevel=error"];
    // The npm that runs this script, else the one on the path.
    const npm = process.env.npm_execpath;
    if (npm) run(process.execPath, [npm, ...args], prismaEnvironment);
    else run("npm", args, prismaEnvironment);
  }
  checkNode();
  writeStamp(STAMP, wanted);
}

/** `npm install` leaves its own record, at least as new as the lock file that it wrote. */
function isInstalledByHand() {
  try {
    return statSync(join(root, "node_modules/.package-lock.json")).mtimeMs >= statSync(join(root, "package-lock.json")).mtimeMs;
  } catch {
    return false;
  }
}

/** The project brings its own Node, which an install script of its package puts in place. */
function checkNode() {
  const node = join(root, "node_modules/.bin/node");
  if (works(node, ["-e", `process.exit(process.versions.node.split(".")[0] >= ${NODE_MAJOR} ? 0 : 1)`])) return;
  throw new SetupFailed(
    `npm did not put Node ${NODE_MAJOR} in place, which is done by an install script. ` +
      "Run `npm ci --ignore-scripts=false`, or have that Node on your path and try again.",
  );
}
