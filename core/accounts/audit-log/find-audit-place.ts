import { pool } from "../../db.ts";

/** The position of an entry in the chain of the whole log; undefined for about a second, until the entry has one. */
export type AuditPlace = { seq: string; hash: string };

/** @param id of an entry found with `findAuditEntry`, which checks that the reader may see it */
export async function findAuditPlace(id: string): Promise<AuditPlace | undefined> {
  const { rows } = await pool().query<AuditPlace>("SELECT seq, encode(hash, 'hex') AS hash FROM audit_seal WHERE event_id = $1", [
    id,
  ]);
  return rows[0];
}
