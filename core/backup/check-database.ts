import { keyIds, open, type SealPurpose } from "../crypto/seal.ts";
import { env, SettingsError } from "../env.ts";
import { sealedColumns } from "../instance/rotate-secret-key.ts";
import type { DumpPart } from "../postgres/copy/read-dump.ts";
import { BackupError } from "./backup-error.ts";
import type { Manifest } from "./manifest.ts";

export function requireSecretKey({ secretKeys }: Manifest): void {
  if (!env().SECRET_KEY) {
    throw new SettingsError(
      `SECRET_KEY is not set. Set it to the key that the service used, or put the key's file at ${env().DATA_DIR}/secret-key. The key is not in the backup.`,
    );
  }
  const [needed = ""] = secretKeys;
  if (keyIds().includes(needed)) return;
  throw new BackupError(
    "SECRET_KEY is not the key that the service used when the backup was created. Set that key: without it, the signing keys, webhook " +
      "secrets and second steps in the backup cannot be decrypted. If the key has been rotated since then, set the earlier one.",
  );
}

export type DatabaseCheck = {
  rows: number;
  secrets: number;
  unreadable: number;
  largeFiles: Set<string>;
};

export async function checkDatabase(
  parts: AsyncIterable<DumpPart>,
  expected: Readonly<Record<string, number>>,
): Promise<DatabaseCheck> {
  const found: DatabaseCheck = { rows: 0, secrets: 0, unreadable: 0, largeFiles: new Set() };
  const sealed = new Map<string, [column: string, purpose: SealPurpose][]>();
  for (const [purpose, columns] of Object.entries(sealedColumns))
    for (const { table, column } of columns) sealed.set(table, [...(sealed.get(table) ?? []), [column, purpose as SealPurpose]]);
  for await (const part of parts) {
    if (part.kind === "statement") continue;
    const { table, columns, content } = part;
    const secrets = (sealed.get(table) ?? []).map(([column, purpose]) => [columns.indexOf(column), purpose] as const);
    const location = ["lfs_object", "xet_xorb"].includes(table) ? columns.indexOf("location") : -1;
    let rows = 0;
    for await (const line of linesOf(content)) {
      rows++;
      if (secrets.length === 0 && location < 0) continue;
      const fields = line.toString("latin1").split("\t");
      for (const [at, purpose] of secrets) countSecret(found, purpose, fields[at] ?? "\\N");
      const stored = fields[location];
      if (stored?.startsWith("local:")) found.largeFiles.add(stored);
    }
    if (rows !== expected[table]) {
      throw new BackupError(
        `The backup is damaged: it has ${rows} rows of the table ${table} instead of ${expected[table]}. Use another backup.`,
      );
    }
    found.rows += rows;
  }
  return found;
}

/** COPY writes bytes as `\\x` and hexadecimal digits. */
function countSecret(found: DatabaseCheck, purpose: SealPurpose, field: string): void {
  if (!field.startsWith("\\\\x")) return;
  found.secrets++;
  try {
    open(purpose, Buffer.from(field.slice(3), "hex"));
  } catch {
    found.unreadable++;
  }
}

export async function* linesOf(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  let rest: Buffer[] = [];
  for await (const piece of content) {
    let from = 0;
    for (let end = piece.indexOf("\n"); end >= 0; end = piece.indexOf("\n", from)) {
      const line = piece.subarray(from, end);
      yield rest.length > 0 ? Buffer.concat([...rest, line]) : line;
      rest = [];
      from = end + 1;
    }
    if (from < piece.length) rest.push(piece.subarray(from));
  }
}
