import type { OrganizationRole, SecurityRestriction } from "@keyhook/sdk";
import { pool } from "#core/db.ts";
import { gather } from "#core/postgres/gather.ts";

/** Everything that decides about an exchange, as it is now. */
export type Exchange = {
  /** The organization to which the app is bound; null if unbound. */
  orgId: string | null;
  isPrivileged: boolean;
  hasPlan: boolean;
  isBlockedByOrganization: boolean;
  /** Configured on the app. */
  scopes: string[];
  /** Seconds; null for the default. */
  tokenSeconds: number | null;
  /** The user with this address, a member or not. */
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
  /** Null for a non-member. */
  role: OrganizationRole | null;
  restrictions: SecurityRestriction[] | null;
};

/**
 * One statement for all of it, each part found by an index: it costs the same for an organization of five members and of a hundred
 * thousand. It serves all requests of one turn of the event loop (gather.ts).
 */
export const FIND_EXCHANGE = `SELECT asked.at::int AS at, x.bound_org_id AS "orgId", x.scopes, x.access_token_seconds AS "tokenSeconds",
    coalesce('token-exchange' = ANY (x.privileges), false) AS "isPrivileged",
    coalesce(o.plan IN ('enterprise', 'plus'), false) AS "hasPlan",
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
/** A larger batch would delay those who came first. */
const AT_ONCE_MAX = 16;

const find = gather<Asked, Exchange | undefined>(async (asked) => {
  const values = [asked.map(({ clientId }) => clientId), asked.map(({ email }) => email)];
  const { rows } = await pool().query<Exchange & { at: number }>({ name: "exchange-find", text: FIND_EXCHANGE, values });
  const byPlace = new Map(rows.map(({ at, ...exchange }) => [at, exchange]));
  return asked.map((_, index) => byPlace.get(index + 1));
}, AT_ONCE_MAX);

/**
 * What an app may exchange, and for whom, in one round trip.
 * @param email canonical; undefined if the subject token is not an address; the query then runs all the same (S91).
 * @returns undefined for an app that was deleted or blocked since its client was read.
 */
export function findExchange(clientId: string, email: string | undefined): Promise<Exchange | undefined> {
  return find({ clientId, email: email ?? "" });
}
