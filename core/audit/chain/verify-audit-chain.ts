import type pg from "pg";
import { withDirectConnection } from "../../db.ts";
import { type AuditEntry, type AuditSeal, ENTRY_COLUMNS, FIRST_PREVIOUS_HASH, hashEntry, hashSeal } from "./chain-hash.ts";

export type AuditHead = { seq: bigint; hash: string };

export type AuditFlaw = {
  kind: "seal_missing" | "seal_altered" | "link_broken" | "entry_missing" | "entry_altered" | "entry_unchained" | "head_differs";
  seq?: bigint;
  eventId?: string;
};

export type AuditVerification = {
  flaw: AuditFlaw | undefined;
  verified: bigint;
  /** The number of entries that retention deleted, according to the log itself. */
  expired: number;
  unsealed: number;
  /** If the operator stores this head elsewhere, it proves later that no earlier entry has changed. */
  head: AuditHead | undefined;
};

const BATCH = 2_000;

type Link = Omit<AuditSeal, "seq"> & { seq: string; hash: Buffer; entry: AuditEntry | undefined };
type LinkRow = Omit<Link, "entry"> & AuditEntry;

/** @param kept an earlier head, from a place where nobody with access to the database can change it */
export async function verifyAuditChain(kept?: AuditHead): Promise<AuditVerification> {
  return withDirectConnection(async (client) => {
    await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY");
    const found = await verify(client, kept);
    await client.query("COMMIT");
    return found;
  });
}

async function verify(client: pg.PoolClient, kept: AuditHead | undefined): Promise<AuditVerification> {
  const removedBefore = await readRemovedBefore(client);
  const { unsealed, unchained } = await readOutside(client);
  let [seq, hash, expired]: [bigint, Buffer, number] = [0n, FIRST_PREVIOUS_HASH, 0];
  let keptHash: string | undefined;
  const found = (flaw: AuditFlaw | undefined): AuditVerification => ({
    flaw,
    verified: seq,
    expired,
    unsealed,
    head: seq > 0n ? { seq, hash: hash.toString("hex") } : undefined,
  });
  for await (const link of readLinks(client)) {
    const flaw = flawOf(link, { seq, hash, removedBefore });
    if (flaw) return found(flaw);
    seq = BigInt(link.seq);
    hash = link.hash;
    if (!link.entry) expired++;
    if (seq === kept?.seq) keptHash = hash.toString("hex");
  }
  if (kept && keptHash !== kept.hash) return found({ kind: "head_differs", seq: kept.seq });
  return found(unchained ? { kind: "entry_unchained", eventId: unchained } : undefined);
}

type Before = { seq: bigint; hash: Buffer; removedBefore: Date | null };

function flawOf(link: Link, before: Before): AuditFlaw | undefined {
  const seq = BigInt(link.seq);
  const { eventId, entry } = link;
  if (seq !== before.seq + 1n) return { kind: "seal_missing", seq: before.seq + 1n };
  if (!link.previousHash.equals(before.hash)) return { kind: "link_broken", seq, eventId };
  if (!hashSeal({ ...link, seq }).equals(link.hash)) return { kind: "seal_altered", seq, eventId };
  if (!entry) {
    const isExpired = before.removedBefore !== null && link.eventCreatedAt <= before.removedBefore;
    return isExpired ? undefined : { kind: "entry_missing", seq, eventId };
  }
  return hashEntry(entry).equals(link.contentHash) ? undefined : { kind: "entry_altered", seq, eventId };
}

async function* readLinks(client: pg.PoolClient): AsyncGenerator<Link> {
  for (let after = "0"; ; ) {
    const { rows } = await client.query<LinkRow>(
      `SELECT s.seq, s.event_id AS "eventId", s.event_created_at AS "eventCreatedAt", s.content_hash AS "contentHash",
              s.previous_hash AS "previousHash", s.hash, ${ENTRY_COLUMNS}
         FROM audit_seal s LEFT JOIN audit_event e ON e.id = s.event_id WHERE s.seq > $1 ORDER BY s.seq LIMIT ${BATCH}`,
      [after],
    );
    for (const { seq, eventId, eventCreatedAt, contentHash, previousHash, hash, ...entry } of rows) {
      const isThere = entry.id !== null;
      yield { seq, eventId, eventCreatedAt, contentHash, previousHash, hash, entry: isThere ? entry : undefined };
    }
    const last = rows.at(-1);
    if (!last || rows.length < BATCH) return;
    after = last.seq;
  }
}

async function readRemovedBefore(client: pg.PoolClient): Promise<Date | null> {
  const { rows } = await client.query<{ at: Date | null }>(
    `SELECT max(created_at - make_interval(days => (data ->> 'keepDays')::int)) AS at FROM audit_event
      WHERE type = 'audit_log.expire' AND actor_id IS NULL AND data ->> 'keepDays' ~ '^[1-9][0-9]{1,4}$'`,
  );
  return rows[0]?.at ?? null;
}

async function readOutside(client: pg.PoolClient): Promise<{ unsealed: number; unchained: string | undefined }> {
  const { rows: waiting } = await client.query<{ unsealed: number }>("SELECT count(*)::int AS unsealed FROM audit_unsealed");
  const { rows } = await client.query<{ id: string }>(
    `SELECT e.id FROM audit_event e
      WHERE NOT EXISTS (SELECT 1 FROM audit_seal s WHERE s.event_id = e.id)
        AND NOT EXISTS (SELECT 1 FROM audit_unsealed u WHERE u.event_id = e.id)
      LIMIT 1`,
  );
  return { unsealed: waiting[0]?.unsealed ?? 0, unchained: rows[0]?.id };
}
