import { pool } from "../../db.ts";

/** Where an entry stands in the chain of the whole log; undefined for the second until it does. */
export type AuditPlace = { seq: string; hash: string };

/** @param id of an entry that was found with `findAuditEntry`, which asks whether the reader may see it */
export async function findAuditPlace(id: string): Promise<AuditPlace | undefined> {
  const { rows } = await pool().query<AuditPlace>("SELECT seq, encode(hash, 'hex') AS hash FROM audit_seal WHERE event_id = $1", [
    id,
  ]);
  return rows[0];
}
