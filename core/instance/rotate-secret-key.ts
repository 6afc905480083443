import { deriveSalt } from "../accounts/second-step/recovery-codes.ts";
import { recordAuditEvent } from "../audit/record-audit-event.ts";
import { derivedKeys, keyIds, open, type SealPurpose, seal } from "../crypto/seal.ts";
import { db, pool } from "../db.ts";
import { env } from "../env.ts";
import { conflict } from "../errors.ts";
import { SILENT_AFTER_SECONDS } from "../operations/heartbeat.ts";

type SealedColumn = { table: string; column: string; key: string };
const column = (table: string, name: string, key = "id"): SealedColumn => ({ table, column: name, key });

/** A purpose has no columns if its values are not stored, or only for a short time. */
export const sealedColumns: Readonly<Record<SealPurpose, readonly SealedColumn[]>> = {
  "identity provider": [column("identity_provider", "sealed_client_secret")],
  "inference provider keys": [column("inference_provider", "sealed_api_key")],
  "job secrets": [column("job_run", "secrets"), column("scheduled_job", "secrets"), column("webhook", "job_secrets")],
  // Kept mail is in `mail.text` for a week.
  "kept mail": [],
  "recovery codes": [column("recovery_code", "sealed_salt")],
  // The client keeps the token. If a token from before the rotation is used twice, it is refused as unknown, not as stolen.
  "refresh token": [],
  "relay token": [column("relay", "token")],
  // The link is in `one_time_token.data`. When the service starts, a link that cannot be decrypted is replaced.
  "setup link": [],
  "signing keys": [column("signing_key", "private_jwk", "kid")],
  "space variable": [column("space_variable", "value", "repo_id || ' ' || name")],
  // Until the user confirms the authenticator app, its secret is in `one_time_token.data`.
  totp: [column("totp", "sealed_secret", "user_id")],
  "webhook secret": [column("webhook", "secret"), column("webhook", "previous_secret")],
};

const BATCH = 500;

type Rotation = {
  resealed: Partial<Record<SealPurpose, number>>;
  unreadable: number;
};

/**
 * The service may run during the rotation. A value that changes meanwhile keeps its change.
 * @throws ServiceError `conflict` if a process does not encrypt with the new key
 */
export async function rotateSecretKey(): Promise<Rotation> {
  if (!env().SECRET_KEY_PREVIOUS) {
    throw conflict(
      "There is no previous key. Set SECRET_KEY_PREVIOUS to the current SECRET_KEY and SECRET_KEY to a new one, restart, and run this command again. With several processes, follow docs/operations.md (Keys).",
    );
  }
  if (keyIds().length === 1) {
    throw conflict(
      "SECRET_KEY_PREVIOUS is the same as SECRET_KEY. Set SECRET_KEY to a new key, restart, and run this command again. With several processes, follow docs/operations.md (Keys).",
    );
  }
  await requireEveryProcessUsesKey();
  await storeSalts();
  const rotation: Rotation = { resealed: {}, unreadable: 0 };
  for (const purpose of Object.keys(sealedColumns) as SealPurpose[]) {
    let count = 0;
    for (const each of sealedColumns[purpose]) {
      for await (const { old, unreadable } of batches(purpose, each)) {
        rotation.unreadable += unreadable;
        count += await reseal(purpose, each, old);
      }
    }
    if (count > 0) rotation.resealed[purpose] = count;
  }
  await recordAuditEvent(db(), { type: "secret_key.rotate", data: { ...rotation, keyId: keyIds()[0] } });
  return rotation;
}

/** When the result is 0, only kept mail still needs SECRET_KEY_PREVIOUS. */
export async function countUnderPreviousKey(): Promise<number> {
  let count = await db().recoveryCode.count({ where: { sealedSalt: null } });
  for (const purpose of Object.keys(sealedColumns) as SealPurpose[]) {
    for (const each of sealedColumns[purpose]) for await (const { old } of batches(purpose, each)) count += old.length;
  }
  return count;
}

async function isAnythingUnderPreviousKey(): Promise<boolean> {
  for (const purpose of Object.keys(sealedColumns) as SealPurpose[]) {
    for (const each of sealedColumns[purpose])
      for await (const { old } of batches(purpose, each)) if (old.length > 0) return true;
  }
  return false;
}

type Sealed = { key: string; sealed: Buffer; plain: string };

async function* batches(purpose: SealPurpose, { table, column, key }: SealedColumn) {
  for (let last = ""; ; ) {
    const { rows } = await pool().query<{ key: string; sealed: Buffer }>(
      `SELECT ${key} AS key, ${column} AS sealed FROM ${table} WHERE ${column} IS NOT NULL AND ${key} > $1 ORDER BY ${key} LIMIT ${BATCH}`,
      [last],
    );
    const old: Sealed[] = [];
    let unreadable = 0;
    for (const row of rows) {
      try {
        const { plain, isCurrent } = open(purpose, row.sealed);
        if (!isCurrent) old.push({ ...row, plain });
      } catch {
        unreadable++;
      }
    }
    yield { old, unreadable };
    const next = rows.at(-1)?.key;
    if (rows.length < BATCH || next === undefined) return;
    last = next;
  }
}

async function reseal(purpose: SealPurpose, { table, column, key }: SealedColumn, old: readonly Sealed[]): Promise<number> {
  const { rowCount } = await pool().query(
    `UPDATE ${table} SET ${column} = fresh_value
       FROM unnest($1::text[], $2::bytea[], $3::bytea[]) AS fresh (row_key, old_value, fresh_value)
      WHERE ${key} = row_key AND ${column} = old_value`,
    [old.map((each) => each.key), old.map((each) => each.sealed), old.map(({ plain }) => Buffer.from(seal(purpose, plain)))],
  );
  return rowCount ?? 0;
}

/** Codes without a stored salt depend on the old key. Salts made from any other key would make the codes useless for good. */
async function storeSalts(): Promise<void> {
  if ((await db().recoveryCode.count({ where: { sealedSalt: null } })) > 0 && !(await isAnythingUnderPreviousKey())) {
    throw conflict(
      "Nothing is encrypted with SECRET_KEY_PREVIOUS, so it must be the new key. Swap the two values, restart every process, and run this command again.",
    );
  }
  const previous = derivedKeys("recovery-codes").at(-1) as Buffer;
  for (;;) {
    const where = { sealedSalt: null };
    const users = await db().recoveryCode.findMany({ where, select: { userId: true }, distinct: ["userId"], take: BATCH });
    for (const { userId } of users) {
      const sealedSalt = seal("recovery codes", deriveSalt(previous, userId).toString("base64"));
      await db().recoveryCode.updateMany({ where: { userId, sealedSalt: null }, data: { sealedSalt } });
    }
    if (users.length < BATCH) return;
  }
}

/** A process that uses the new key only for decryption would still store values encrypted with the old key. */
async function requireEveryProcessUsesKey(): Promise<void> {
  const { rows } = await pool().query<{ kind: string; host: string; pid: number }>(
    `SELECT kind, host, pid FROM process_heartbeat
      WHERE seen_at > now() - make_interval(secs => $1) AND key_ids[1] IS DISTINCT FROM $2 ORDER BY kind, host, pid LIMIT 10`,
    [SILENT_AFTER_SECONDS, keyIds()[0]],
  );
  if (rows.length === 0) return;
  const names = rows.map(({ kind, host, pid }) => `${kind} on ${host} (process ${pid})`).join(", ");
  throw conflict(
    `Some processes do not encrypt with the new SECRET_KEY yet: ${names}. Restart them, and run this command again.`,
  );
}
