import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export type Migration = {
  name: string;
  sql: string;
  /** As Prisma computes it: SHA-256 of the file, in hex. */
  checksum: string;
};

const FOLDER = join(import.meta.dirname, "../../prisma/migrations");

/** The migrations of this version of the service, in the order of their names. */
export function readMigrations(folder = FOLDER): Migration[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
    .map((name) => {
      const bytes = readFileSync(join(folder, name, "migration.sql"));
      return { name, sql: bytes.toString("utf8"), checksum: createHash("sha256").update(bytes).digest("hex") };
    });
}
