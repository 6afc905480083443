import { hashToken } from "#core/crypto/token.ts";
import { pool } from "#core/db.ts";
import { type ArtifactRow, readArtifact, selectArtifact } from "./artifact-rows.ts";
import { requestRows } from "./request-rows.ts";

/** Only the hash of an artifact's ID is stored (S55). No query returns an artifact of a revoked Grant (S49, S114). */

/** Marks an ID as a hash, so that an artifact that was read by its uid can be stored again. */
const HASHED = "hashed:";

export const idHash = (id: string): string => (id.startsWith(HASHED) ? id.slice(HASHED.length) : hashToken(id));

export type Payload = Record<string, unknown>;

// Two tabs may create two engine sessions with one uid (site-session.ts).
const BY_UID = `${selectArtifact("a.uid = $2")} ORDER BY a.expires_at DESC LIMIT 1`;

function remember(row: ArtifactRow): void {
  const rows = requestRows();
  const grantId = row.payload.grantId;
  if (row.grant_payload && typeof grantId === "string")
    rows.grants.set(grantId, withRemainingScope(row.grant_payload, row.scopes_left));
  if (row.account) rows.accounts.set(row.account.id, { ...row.account, organizations: row.account.organizations ?? undefined });
}

export function toPayload(row: ArtifactRow, jti: string): Payload {
  remember(row);
  return {
    ...row.payload,
    ...(row.payload.kind === "AccessToken" && { scope: remainingScope(row.payload.scope, row.scopes_left) }),
    jti,
    ...(row.consumed_at && { consumed: Math.floor(row.consumed_at.getTime() / 1000) }),
  };
}

/**
 * Removes scopes that the consent or the app has lost (S30, S95). A refresh token keeps its scope, because clients may repeat it.
 */
function remainingScope(scope: unknown, left: string[] | null): unknown {
  if (!left || typeof scope !== "string") return scope;
  return scope
    .split(" ")
    .filter((each) => left.includes(each))
    .join(" ");
}

function withRemainingScope(grant: Payload, left: string[] | null): Payload {
  const openid = grant.openid as { scope?: string } | undefined;
  return openid ? { ...grant, openid: { ...openid, scope: remainingScope(openid.scope, left) } } : grant;
}

/** A client must not pass a hash instead of an ID. */
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

const UPSERT = `WITH prolonged AS (
    UPDATE oauth_grant SET expires_at = now() + make_interval(secs => $9) WHERE id = $3 AND expires_at < now() + make_interval(secs => $9))
  INSERT INTO oauth_artifact
    (model, id_hash, grant_id, payload, uid, user_code, account_id, client_id, expires_at, party)
  SELECT $1, $2, $3, $4, $5, $6, $7, $8, now() + make_interval(secs => $9), $10
    WHERE $3 IS NULL OR EXISTS (SELECT FROM oauth_grant WHERE id = $3 FOR KEY SHARE)
  ON CONFLICT (model, id_hash) DO UPDATE SET grant_id = excluded.grant_id, payload = excluded.payload, uid = excluded.uid,
    user_code = excluded.user_code, account_id = excluded.account_id, client_id = excluded.client_id,
    expires_at = excluded.expires_at`;

const KEPT_OF_GRANT = 200;

/**
 * A client that refreshes in a loop keeps few rows (S143). A used refresh token is recognized without its row
 * (refresh-token-id.ts).
 */
const PRUNE_GRANT = `DELETE FROM oauth_artifact WHERE ctid = ANY (ARRAY (SELECT ctid FROM oauth_artifact WHERE ctid = ANY (ARRAY (
    SELECT ctid FROM (SELECT ctid, row_number() OVER (PARTITION BY model ORDER BY coalesce(consumed_at, created_at) DESC) AS rank
        FROM oauth_artifact
        WHERE grant_id = $1 AND (model = 'AccessToken' OR (model = 'RefreshToken' AND consumed_at IS NOT NULL))) AS ranked
    WHERE rank > ${KEPT_OF_GRANT} LIMIT 100))
  FOR UPDATE SKIP LOCKED))`;

const storable = ({ jti: _jti, consumed: _consumed, ...stored }: Payload): string => JSON.stringify(stored);

const text = (value: unknown): string | null => (typeof value === "string" ? value : null);

/** @param party stored only with a new row */
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
  if (model === "RefreshToken") await pruneGrant(text(payload.grantId));
}

async function pruneGrant(grantId: string | null): Promise<void> {
  await pool().query({ name: "grant-prune", text: PRUNE_GRANT, values: [grantId] });
}

/** @returns false if the interaction was already answered or has expired */
export async function answerArtifact(id: string, payload: Payload): Promise<boolean> {
  const { rowCount } = await pool().query({
    name: "artifact-answer",
    text: "UPDATE oauth_artifact SET payload = $2 WHERE model = 'Interaction' AND id_hash = $1 AND NOT payload ? 'result'",
    values: [idHash(id), storable(payload)],
  });
  return rowCount === 1;
}

type UsedArtifact = {
  grantId: string | null;
  secondsSinceUse: number;
};

/**
 * One conditional update, so that only one of several simultaneous requests is the first (S44).
 * @returns undefined for the first use
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
    text: `SELECT grant_id AS "grantId", extract(epoch FROM clock_timestamp() - consumed_at)::float8 AS "secondsSinceUse"
      FROM oauth_artifact WHERE model = $1 AND id_hash = $2`,
    values,
  });
  return rows[0] ?? { grantId: null, secondsSinceUse: Number.POSITIVE_INFINITY };
}

const PROLONG = `WITH kept AS (
    UPDATE oauth_artifact SET expires_at = now() + make_interval(secs => $3), payload = payload || jsonb_build_object('exp', $4::int8)
      WHERE model = $1 AND id_hash = $2 AND consumed_at IS NULL RETURNING grant_id),
  prolonged AS (UPDATE oauth_grant g SET expires_at = now() + make_interval(secs => $3) FROM kept
    WHERE g.id = kept.grant_id AND g.expires_at < now() + make_interval(secs => $3))
  SELECT grant_id FROM kept`;

/** @returns false if the artifact was already used */
export async function prolongArtifact(model: string, id: string, seconds: number): Promise<boolean> {
  const values = [model, idHash(id), seconds, Math.floor(Date.now() / 1000) + seconds];
  const { rows } = await pool().query<{ grant_id: string }>({ name: "artifact-prolong", text: PROLONG, values });
  if (rows[0]) await pruneGrant(rows[0].grant_id);
  return rows.length === 1;
}

export async function destroyArtifact(model: string, id: string): Promise<void> {
  await pool().query({
    name: "artifact-destroy",
    text: "DELETE FROM oauth_artifact WHERE model = $1 AND id_hash = $2",
    values: [model, idHash(id)],
  });
}
