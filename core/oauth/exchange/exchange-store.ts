import type { OrganizationRole, SecurityRestriction } from "@keyhook/sdk";
import { mayRecord } from "#core/accounts/throttle.ts";
import { type NewAuditEvent, recordAuditEvent, storableUserAgent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { db, pool } from "#core/db.ts";
import { newId } from "#core/ids.ts";
import { log } from "#core/log.ts";
import { batched } from "#core/postgres/batched.ts";
import { HAS_EXCHANGE_PLAN } from "../artifacts/artifact-rows.ts";
import type { Payload } from "../artifacts/artifact-store.ts";
import { requestRows } from "../artifacts/request-rows.ts";
import type { ActingParty } from "./exchange-token.ts";

export type Exchange = {
  orgId: string | null;
  isPrivileged: boolean;
  hasPlan: boolean;
  isBlockedByOrganization: boolean;
  scopes: string[];
  tokenSeconds: number | null;
  subject: Subject | null;
};

export type Subject = {
  id: string;
  username: string;
  fullName: string;
  email: string;
  website: string | null;
  isEmailVerified: boolean;
  isDisabled: boolean;
  role: OrganizationRole | null;
  restrictions: SecurityRestriction[] | null;
};

/** Uses only indexes, so the cost does not grow with the organization. */
export const FIND_EXCHANGE = `SELECT asked.at::int AS at, x.bound_org_id AS "orgId", x.scopes, x.access_token_seconds AS "tokenSeconds",
    coalesce('token-exchange' = ANY (x.privileges), false) AS "isPrivileged",
    coalesce(${HAS_EXCHANGE_PLAN}, false) AS "hasPlan",
    coalesce(d.decision = 'blocked', false) AS "isBlockedByOrganization",
    CASE WHEN u.id IS NULL THEN NULL ELSE json_build_object('id', u.id, 'username', u.username, 'fullName', u.full_name,
      'email', u.email, 'website', u.website, 'isEmailVerified', u.email_verified_at IS NOT NULL,
      'isDisabled', u.disabled_at IS NOT NULL, 'role', m.role, 'restrictions', m.restrictions) END AS subject
  FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS asked(client_id, email, at)
  JOIN oauth_app x ON x.client_id = asked.client_id AND x.blocked_at IS NULL
  LEFT JOIN organization o ON o.id = x.bound_org_id
  LEFT JOIN organization_app d ON d.org_id = o.id AND d.client_id = x.client_id
  LEFT JOIN "user" u ON u.email_canonical = asked.email
  LEFT JOIN member_standing m ON m.org_id = o.id AND m.user_id = u.id`;

type Asked = { clientId: string; email: string };
const AT_ONCE_MAX = 16;

const find = batched<Asked, Exchange | undefined>(async (asked) => {
  const values = [asked.map(({ clientId }) => clientId), asked.map(({ email }) => email)];
  const { rows } = await pool().query<Exchange & { at: number }>({ name: "exchange-find", text: FIND_EXCHANGE, values });
  const byOrdinal = new Map(rows.map(({ at, ...exchange }) => [at, exchange]));
  return asked.map((_, index) => byOrdinal.get(index + 1));
}, AT_ONCE_MAX);

/**
 * Without an email, the query runs too, so that the time is the same (S91).
 * @param email in canonical form
 * @returns undefined if the app was deleted or is blocked
 */
export function findExchange(clientId: string, email: string | undefined): Promise<Exchange | undefined> {
  return find({ clientId, email: email ?? "" });
}

export type DecidedExchange = {
  orgId: string;
  grantId: string;
  act: ActingParty | undefined;
  data: NonNullable<NewAuditEvent["data"]>;
  from: RequestOrigin;
};

/**
 * One statement stores the token and its entry, so neither exists without the other (S96). The Grant ends with the right to
 * exchange (artifact-rows.ts).
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
const COLUMNS = 13;

const save = batched<Row, undefined>(async (rows) => {
  const values = Array.from({ length: COLUMNS }, (_, column) => rows.map((row) => row[column]));
  await pool().query({ name: "exchange-save", text: SAVE, values });
  return rows.map(() => undefined);
}, AT_ONCE_MAX);

/** configuration.ts and adapter.ts read the exchange from the request's rows while the engine saves the token. */
export async function saveExchangedToken(token: { save(): Promise<string> }, exchange: DecidedExchange): Promise<string> {
  const rows = requestRows();
  rows.exchange = exchange;
  try {
    return await token.save();
  } finally {
    rows.exchange = undefined;
  }
}

/** @param payload in the engine's form (S55) */
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

/** Administrators are alerted after 20 refusals. Many more entries would not help them. */
export const REFUSALS_OF_CLIENT = 300;

/** Anybody can cause refusals with an app and organization of their own, so entries are limited (S96, S144). */
export async function recordRefusal(
  event: Omit<NewAuditEvent, "type"> & { clientId: string; from: RequestOrigin },
  { mayExchange }: { mayExchange: boolean },
): Promise<void> {
  const counted = { subject: event.clientId, limit: REFUSALS_OF_CLIENT };
  const isRecorded = mayExchange
    ? await mayRecord("exchange_refusal", counted)
    : await mayRecord("exchange_refusal_unapproved", { ...counted, ip: event.from.ip });
  if (!isRecorded) {
    const { orgId, clientId, data } = event;
    log().info({ orgId, clientId, reason: data?.reason }, "an exchange was refused, after many other refusals");
    return;
  }
  await recordAuditEvent(db(), { ...event, type: "oauth_token.exchange_refused" });
}
