import type pg from "pg";
import { withConnection } from "../../db.ts";
import { type AuditEntry, ENTRY_COLUMNS, FIRST_PREVIOUS_HASH, hashEntry, hashSeal } from "./chain-hash.ts";

const BATCH = 1_000;
// The number is arbitrary, but no other lock of the service may use it.
const SEAL_LOCK = 5_407_227;

type Head = { seq: string; hash: Buffer };

/**
 * An entry's own transaction puts the entry into `audit_unsealed`, so an entry that commits late is not skipped.
 * @param isWaiting waits for the lock, instead of doing nothing if another process holds it
 */
export async function sealAuditEvents({ isWaiting = false } = {}): Promise<{ sealed: number; isMore: boolean }> {
  return withConnection(async (client) => {
    const { rows } = await client.query<{ isIdle: boolean }>(`SELECT NOT EXISTS (SELECT 1 FROM audit_unsealed) AS "isIdle"`);
    if (rows[0]?.isIdle) return { sealed: 0, isMore: false };
    await client.query("BEGIN");
    const sealed = (await takeLock(client, isWaiting)) ? await sealBatch(client) : 0;
    await client.query("COMMIT");
    return { sealed, isMore: sealed === BATCH };
  });
}

async function takeLock(client: pg.PoolClient, isWaiting: boolean): Promise<boolean> {
  if (isWaiting) {
    await client.query("SELECT pg_advisory_xact_lock($1)", [SEAL_LOCK]);
    return true;
  }
  const { rows } = await client.query<{ isOurs: boolean }>(`SELECT pg_try_advisory_xact_lock($1) AS "isOurs"`, [SEAL_LOCK]);
  return rows[0]?.isOurs === true;
}

async function sealBatch(client: pg.PoolClient): Promise<number> {
  const { rows: heads } = await client.query<Head>("SELECT seq, hash FROM audit_seal ORDER BY seq DESC LIMIT 1");
  const { rows: entries } = await client.query<AuditEntry & { isSealed: boolean }>(
    `SELECT ${ENTRY_COLUMNS}, EXISTS (SELECT 1 FROM audit_seal s WHERE s.event_id = e.id) AS "isSealed"
       FROM audit_unsealed u JOIN audit_event e ON e.id = u.event_id ORDER BY u.event_id LIMIT ${BATCH}`,
  );
  let seq = BigInt(heads[0]?.seq ?? 0);
  let previousHash = heads[0]?.hash ?? FIRST_PREVIOUS_HASH;
  const seals = [];
  for (const { isSealed, ...entry } of entries) {
    // Only a change of the table by hand queues a sealed entry. It must not block the other entries.
    if (isSealed) continue;
    seq += 1n;
    const seal = { seq, eventId: entry.id, eventCreatedAt: entry.createdAt, contentHash: hashEntry(entry), previousHash };
    previousHash = hashSeal(seal);
    seals.push({ ...seal, hash: previousHash });
  }
  await client.query(
    `INSERT INTO audit_seal (seq, event_id, event_created_at, content_hash, previous_hash, hash)
     SELECT * FROM unnest($1::bigint[], $2::text[], $3::timestamptz[], $4::bytea[], $5::bytea[], $6::bytea[])`,
    [
      seals.map((seal) => seal.seq.toString()),
      seals.map((seal) => seal.eventId),
      seals.map((seal) => seal.eventCreatedAt),
      seals.map((seal) => seal.contentHash),
      seals.map((seal) => seal.previousHash),
      seals.map((seal) => seal.hash),
    ],
  );
  await client.query("DELETE FROM audit_unsealed WHERE event_id = ANY ($1)", [entries.map(({ id }) => id)]);
  return entries.length;
}
