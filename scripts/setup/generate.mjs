import { existsSync } from "node:fs";
import { join } from "node:path";
import { fingerprint, readStamp, writeStamp } from "./fingerprint.mjs";
import { root, run } from "./run.mjs";

const STAMP = "core/generated/.keyhook-generated";

/**
 * Prisma would download an engine that only its migration commands need; generating a client does without it. Any program
 * that exits with 0 stands in for it, so that a machine without a way out works too.
 */
export const prismaEnvironment = {
  PRISMA_SCHEMA_ENGINE_BINARY:
    process.env.PRISMA_SCHEMA_ENGINE_BINARY ?? (existsSync("/bin/true") ? "/bin/true" : "/usr/bin/true"),
};

/** Generates the database client, unless it was generated from this schema. */
export function generateClient(say) {
  const wanted = fingerprint(["prisma/schema.prisma", "node_modules/prisma/package.json"]);
  if (readStamp(STAMP) === wanted && existsSync(join(root, "core/generated/prisma/client.ts"))) return;
  say("generating the database client (prisma generate)");
  run("prisma", ["generate"], prismaEnvironment);
  writeStamp(STAMP, wanted);
}
