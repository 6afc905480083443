import { statSync } from "node:fs";
import { join } from "node:path";
import { prismaEnvironment } from "./build.mjs";
import { fingerprint, readStamp, writeStamp } from "./fingerprint.mjs";
import { root, run, SetupFailed, works } from "./run.mjs";

const STAMP = "node_modules/.keyhook-installed";
const NODE_MAJOR = 24;

export async function installPackages(step) {
  const wanted = `${process.platform}-${process.arch} ${fingerprint(["package-lock.json"])}`;
  if (readStamp(STAMP) === wanted) return;
  if (!isInstalledByHand()) {
    const args = ["ci", "--include=dev", "--no-fund", "--no-audit", "--loglevel=error"];
    const npm = process.env.npm_execpath;
    const [command, first] = npm ? [process.execPath, [npm]] : ["npm", []];
    await step("installing packages (npm ci)", () => run(command, [...first, ...args], prismaEnvironment));
  }
  checkNode();
  writeStamp(STAMP, wanted);
}

/** `npm install` leaves a record that is at least as new as the lock file. */
function isInstalledByHand() {
  try {
    return statSync(join(root, "node_modules/.package-lock.json")).mtimeMs >= statSync(join(root, "package-lock.json")).mtimeMs;
  } catch {
    return false;
  }
}

function checkNode() {
  const node = join(root, "node_modules/.bin/node");
  if (works(node, ["-e", `process.exit(process.versions.node.split(".")[0] >= ${NODE_MAJOR} ? 0 : 1)`])) return;
  throw new SetupFailed(
    `npm did not put Node ${NODE_MAJOR} in place, which is done by an install script. ` +
      "Run `npm ci --ignore-scripts=false`, or have that Node on your path and try again.",
  );
}
