import { provideGeneratedKey } from "../instance/data-dir.ts";
import { readDump } from "../postgres/copy/read-dump.ts";
import { checkDatabase, type DatabaseCheck, requireSecretKey } from "./check-database.ts";
import { findBackup, type Manifest } from "./manifest.ts";
import { openPlace } from "./place.ts";
import { parseAllRefs } from "./refs.ts";
import { check, listFiles, openRepository, readFile } from "./restic.ts";

type Options = {
  from: string;
  id?: string | undefined;
  isQuick: boolean;
  report?: (step: string) => void;
};

export type BackupCheck = {
  id: string;
  manifest: Manifest;
  database: Omit<DatabaseCheck, "largeFiles">;
  missingFiles: string[];
  missingRepositories: string[];
};

export async function verifyBackup({ from, id, isQuick, report = () => undefined }: Options): Promise<BackupCheck> {
  provideGeneratedKey();
  const place = openPlace(from);
  await openRepository(place, { mayCreate: false });
  report(isQuick ? "checking that nothing is missing" : "reading all data");
  await check(place, { isComplete: !isQuick });
  const backup = await findBackup(place, id);
  const { parts, rows } = backup.manifest;
  requireSecretKey(backup.manifest);
  report("database");
  const { largeFiles, ...database } = await checkDatabase(readDump(readFile(place, parts.database, "/database.sql")), rows);
  report("repositories and large files");
  const repositories = new Set<string>();
  for await (const path of listFiles(place, parts.files)) {
    const [, repository] = /^\/repositories\/[^/]+\/([^/]+)\.git\//.exec(path) ?? [];
    if (repository) repositories.add(repository);
    else largeFiles.delete(`local:${path.slice(path.lastIndexOf("/") + 1)}`);
  }
  const missingRepositories = [...(backup.manifest.unread ?? [])];
  for await (const { id, refs } of parseAllRefs(readFile(place, parts.refs, "/refs.txt")))
    if (refs.length > 0 && !repositories.has(id)) missingRepositories.push(id);
  return { ...backup, database, missingFiles: [...largeFiles], missingRepositories };
}
