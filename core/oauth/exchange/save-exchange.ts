import { type NewAuditEvent, recordAuditEvent, storableUserAgent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { db, pool } from "#core/db.ts";
import { newId } from "#core/ids.ts";
import type { Payload } from "../artifact-store.ts";
import type { ActingParty } from "./find-acting-party.ts";

/** An exchange that was decided, for the moment at which its token is stored. */
export type DecidedExchange = {
  orgId: string;
  grantId: string;
  act: ActingParty | undefined;
  /** What the organization reads of it. */
  data: NonNullable<NewAuditEvent["data"]>;
  from: RequestOrigin;
};

/**
 * The Grant under which the token lives, the token and the line in the organization's audit log: one statement, so that there is none
 * without the others (S96). What ends the right to exchange ends the Grant (artifact-rows.ts, and triggers of the database).
 */
const SAVE = `WITH granted AS (
    INSERT INTO oauth_grant (id, bound_org_id, user_id, client_id, payload, org_ids, expires_at)
    VALUES ($1, $2, $3, $4, $5, ARRAY[$2], now() + make_interval(secs => $8))
  ), issued AS (
    INSERT INTO oauth_artifact (model, id_hash, grant_id, payload, account_id, client_id, expires_at)
    VALUES ('AccessToken', $6, $1, $7, $3, $4, now() + make_interval(secs => $8))
  )
  INSERT INTO audit_event (id, type, actor_id, org_id, client_id, subject_id, data, ip, user_agent)
  VALUES ($9, 'oauth_token.exchange', $10, $2, $4, $3, $11, $12, $13)`;

/** @param payload of the access token, as the engine stores it; `idHash` is what it is found by (S55). */
export async function saveExchange(
  idHash: string,
  { jti: _jti, ...payload }: Payload,
  expiresInSeconds: number,
  { orgId, grantId, act, data, from }: DecidedExchange,
): Promise<void> {
  const { accountId, clientId, iat, exp, scope } = payload;
  const grant = { iat, exp, kind: "Grant", accountId, clientId, openid: { scope } };
  const values = [
    grantId,
    orgId,
    accountId,
    clientId,
    JSON.stringify(grant),
    idHash,
    JSON.stringify(payload),
    expiresInSeconds,
    newId(),
    act?.sub ?? null,
    JSON.stringify(data),
    from.ip,
    storableUserAgent(from.userAgent),
  ];
  await pool().query({ name: "exchange-save", text: SAVE, values });
}

/** A refused exchange is in the organization's audit log like one that was made (S96). */
export async function recordRefusal(event: Omit<NewAuditEvent, "type">): Promise<void> {
  await recordAuditEvent(db(), { ...event, type: "oauth_token.exchange_refused" });
}
