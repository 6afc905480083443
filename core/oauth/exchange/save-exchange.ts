import { isRefusalRecorded } from "#core/accounts/throttle.ts";
import { type NewAuditEvent, recordAuditEvent, storableUserAgent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { db, pool } from "#core/db.ts";
import { newId } from "#core/ids.ts";
import { log } from "#core/log.ts";
import { gather } from "#core/postgres/gather.ts";
import type { Payload } from "../artifact-store.ts";
import type { ActingParty } from "./find-acting-party.ts";

/** A decided exchange, for the moment at which its token is stored. */
export type DecidedExchange = {
  orgId: string;
  grantId: string;
  act: ActingParty | undefined;
  /** What the organization's audit log says about it. */
  data: NonNullable<NewAuditEvent["data"]>;
  from: RequestOrigin;
};

/**
 * The token's Grant, the token and the entry in the organization's audit log, in one statement, so that none exists without the others
 * (S96). Whatever ends the right to exchange ends the Grant (artifact-rows.ts, and triggers of the database). Exchanges of one turn of the
 * event loop share the statement and its commit (gather.ts).
 */
const SAVE = `WITH given AS (
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::float8[], $9::text[],
      $10::text[], $11::text[], $12::text[], $13::text[])
      AS t(grant_id, org_id, user_id, client_id, grant_payload, id_hash, payload, seconds, event_id, actor_id, data, ip, user_agent)
  ), granted AS (
    INSERT INTO oauth_grant (id, bound_org_id, user_id, client_id, payload, org_ids, expires_at)
    SELECT grant_id, org_id, user_id, client_id, grant_payload::jsonb, ARRAY[org_id], now() + make_interval(secs => seconds) FROM given
  ), issued AS (
    INSERT INTO oauth_artifact (model, id_hash, grant_id, payload, account_id, client_id, expires_at)
    SELECT 'AccessToken', id_hash, grant_id, payload::jsonb, user_id, client_id, now() + make_interval(secs => seconds) FROM given
  )
  INSERT INTO audit_event (id, type, actor_id, org_id, client_id, subject_id, data, ip, user_agent)
  SELECT event_id, 'oauth_token.exchange', actor_id, org_id, client_id, user_id, data::jsonb, ip, user_agent FROM given`;

type Row = readonly (string | number | null)[];
/** A larger batch would delay those who came first. */
const AT_ONCE_MAX = 16;
const COLUMNS = 13;

const save = gather<Row, undefined>(async (rows) => {
  const values = Array.from({ length: COLUMNS }, (_, column) => rows.map((row) => row[column]));
  await pool().query({ name: "exchange-save", text: SAVE, values });
  return rows.map(() => undefined);
}, AT_ONCE_MAX);

/** @param payload of the access token, as the engine stores it; it is found by `idHash` (S55). */
export async function saveExchange(
  idHash: string,
  { jti: _jti, ...payload }: Payload,
  expiresInSeconds: number,
  { orgId, grantId, act, data, from }: DecidedExchange,
): Promise<void> {
  const { accountId, clientId, iat, exp, scope } = payload;
  const grant = { iat, exp, kind: "Grant", accountId, clientId, openid: { scope } };
  await save([
    grantId,
    orgId,
    String(accountId),
    String(clientId),
    JSON.stringify(grant),
    idHash,
    JSON.stringify(payload),
    expiresInSeconds,
    newId(),
    act?.sub ?? null,
    JSON.stringify(data),
    from.ip,
    storableUserAgent(from.userAgent),
  ]);
}

/** Far above the 20 in ten minutes that alert the administrators. */
export const REFUSALS_OF_CLIENT = 300;

/**
 * Records a refused exchange in the organization's audit log, as for a successful one (S96). Anyone can bind their own app to their own
 * organization and cause any number of refusals, so these are counted, separately from those of apps that may exchange (S144).
 */
export async function recordRefusal(
  event: Omit<NewAuditEvent, "type"> & { clientId: string; from: RequestOrigin },
  { mayExchange }: { mayExchange: boolean },
): Promise<void> {
  const counted = { subject: event.clientId, limit: REFUSALS_OF_CLIENT };
  // The operator approved each app that may exchange: one must not use up what is recorded of another, which also alerts administrators (S96).
  const isRecorded = mayExchange
    ? await isRefusalRecorded("exchange_refusal", counted)
    : await isRefusalRecorded("exchange_refusal_unapproved", { ...counted, ip: event.from.ip });
  if (!isRecorded) {
    const { orgId, clientId, data } = event;
    log().info({ orgId, clientId, reason: data?.reason }, "an exchange was refused, as many were before it");
    return;
  }
  await recordAuditEvent(db(), { ...event, type: "oauth_token.exchange_refused" });
}
