import { hashToken } from "#core/crypto/token.ts";
import { pool } from "#core/db.ts";
import { type ArtifactRow, readArtifact, selectArtifact } from "./artifact-rows.ts";
import { requestRows } from "./request-rows.ts";

/**
 * The SQL behind the adapter. Artifacts are found by the hash of their id only (S55); one that hangs on a revoked Grant or
 * consent, or on a disabled person, is not found, so that a revocation needs no sweep to take effect (S49, S114).
 */

/** An id that is already a hash: what was read by uid or user code can be stored again without the bearer's value. */
const HASHED = "hashed:";

export const idHash = (id: string): string => (id.startsWith(HASHED) ? id.slice(HASHED.length) : hashToken(id));

export type Payload = Record<string, unknown>;

// Two tabs that began at once have left two engine sessions with one uid (site-session.ts): the one that lasts counts.
const BY_UID = `${selectArtifact("a.uid = $2")} ORDER BY a.expires_at DESC LIMIT 1`;

function remember(row: ArtifactRow): void {
  const rows = requestRows();
  const grantId = row.payload.grantId;
  if (row.grant_payload && typeof grantId === "string") rows.grants.set(grantId, row.grant_payload);
  if (row.account) rows.accounts.set(row.account.id, { ...row.account, organizations: row.account.organizations ?? undefined });
}

/** The payload as the engine gets it, under the id that the bearer has shown. */
export function toPayload(row: ArtifactRow, jti: string): Payload {
  remember(row);
  return { ...row.payload, jti, ...(row.consumed_at && { consumed: Math.floor(row.consumed_at.getTime() / 1000) }) };
}

/** A value that looks like one of our hashes comes from outside here, and must never be taken for one. */
export const isForged = (id: string): boolean => id.startsWith(HASHED);

export async function findArtifact(model: string, id: string): Promise<Payload | undefined> {
  if (isForged(id)) return undefined;
  const row = await readArtifact(model, idHash(id));
  return row && toPayload(row, id);
}

export async function findArtifactByUid(model: string, uid: string): Promise<Payload | undefined> {
  const { rows } = await pool().query<ArtifactRow>({ name: "artifact-by-uid", text: BY_UID, values: [model, uid] });
  return rows[0] && toPayload(rows[0], HASHED + rows[0].id_hash);
}

/** Prolongs the Grant to the life of what is issued under it. Without its Grant, a token is not stored: it is invalid, as under a revoked one. */
const UPSERT = `WITH prolonged AS (
    UPDATE oauth_grant SET expires_at = now() + make_interval(secs => $9) WHERE id = $3 AND expires_at < now() + make_interval(secs => $9))
  INSERT INTO oauth_artifact
    (model, id_hash, grant_id, payload, uid, user_code, account_id, client_id, expires_at, party)
  SELECT $1, $2, $3, $4, $5, $6, $7, $8, now() + make_interval(secs => $9), $10
    WHERE $3 IS NULL OR EXISTS (SELECT FROM oauth_grant WHERE id = $3 FOR KEY SHARE)
  ON CONFLICT (model, id_hash) DO UPDATE SET grant_id = excluded.grant_id, payload = excluded.payload, uid = excluded.uid,
    user_code = excluded.user_code, account_id = excluded.account_id, client_id = excluded.client_id,
    expires_at = excluded.expires_at`;

/** How many access tokens one Grant keeps, and how many used refresh tokens of each class (below). */
const KEPT_OF_GRANT = 200;

/**
 * Deletes what a Grant that is refreshed in a loop keeps beyond the limit (S143). A used refresh token must stay as long as its replay can
 * show a theft (S47). So these are counted in classes by how long each was held before it was used: a thief who uses each successor at once
 * cannot displace the stolen token, which its owner had held for longer. There are 16 classes (powers of e, in seconds, up to 60 days).
 * A refresh adds two rows, so 100 at a time keeps up; no request pays for thousands.
 */
const PRUNE_GRANT = `DELETE FROM oauth_artifact WHERE ctid = ANY (ARRAY (SELECT ctid FROM oauth_artifact WHERE ctid = ANY (ARRAY (
    SELECT ctid FROM (SELECT ctid, row_number() OVER (
          PARTITION BY model, floor(ln(greatest(extract(epoch FROM consumed_at - created_at)::float8, 1)))
          ORDER BY coalesce(consumed_at, created_at) DESC) AS place
        FROM oauth_artifact
        WHERE grant_id = $1 AND (model = 'AccessToken' OR (model = 'RefreshToken' AND consumed_at IS NOT NULL))) AS ranked
    WHERE place > ${KEPT_OF_GRANT} LIMIT 100))
  FOR UPDATE SKIP LOCKED))`;

/** The bearer's value itself stays out of the row. */
const storable = ({ jti: _jti, consumed: _consumed, ...stored }: Payload): string => JSON.stringify(stored);

const text = (value: unknown): string | null => (typeof value === "string" ? value : null);

/** @param party whom a new row counts against (store-of-party.ts); one that is there keeps its own. */
export async function upsertArtifact(
  model: string,
  id: string,
  payload: Payload,
  expiresIn: number | undefined,
  party: string | null = null,
) {
  const values = [
    model,
    idHash(id),
    text(payload.grantId),
    storable(payload),
    text(payload.uid),
    text(payload.userCode),
    text(payload.accountId),
    text(payload.clientId),
    expiresIn ?? null,
    party,
  ];
  await pool().query({ name: "artifact-upsert", text: UPSERT, values });
  if (model === "RefreshToken") await pool().query({ name: "grant-prune", text: PRUNE_GRANT, values: [text(payload.grantId)] });
}

/** @returns false when the interaction was answered already, or is over: an answer makes no new row. */
export async function answerArtifact(id: string, payload: Payload): Promise<boolean> {
  const { rowCount } = await pool().query({
    name: "artifact-answer",
    text: "UPDATE oauth_artifact SET payload = $2 WHERE model = 'Interaction' AND id_hash = $1 AND NOT payload ? 'result'",
    values: [idHash(id), storable(payload)],
  });
  return rowCount === 1;
}

/** How an artifact stood when somebody wanted to use it that was used before. */
export type UsedArtifact = {
  grantId: string | null;
  clientId: string | null;
  accountId: string | null;
  /** By the database's clock, which is the same for every process. */
  secondsSinceUse: number;
};

/**
 * Marks an artifact as used, in one conditional update, so that of requests at the very same moment one is the first (S44).
 * @returns undefined for the first; for whoever comes later, whose artifact it was and how long ago it was used.
 */
export async function consumeArtifact(model: string, id: string): Promise<UsedArtifact | undefined> {
  const values = [model, idHash(id)];
  const { rowCount } = await pool().query({
    name: "artifact-consume",
    text: "UPDATE oauth_artifact SET consumed_at = now() WHERE model = $1 AND id_hash = $2 AND consumed_at IS NULL",
    values,
  });
  if (rowCount === 1) return undefined;
  const { rows } = await pool().query<UsedArtifact>({
    name: "artifact-used",
    text: `SELECT grant_id AS "grantId", client_id AS "clientId", account_id AS "accountId",
        extract(epoch FROM clock_timestamp() - consumed_at)::float8 AS "secondsSinceUse"
      FROM oauth_artifact WHERE model = $1 AND id_hash = $2`,
    values,
  });
  return rows[0] ?? { grantId: null, clientId: null, accountId: null, secondsSinceUse: 0 };
}

export async function destroyArtifact(model: string, id: string): Promise<void> {
  await pool().query({
    name: "artifact-destroy",
    text: "DELETE FROM oauth_artifact WHERE model = $1 AND id_hash = $2",
    values: [model, idHash(id)],
  });
}
