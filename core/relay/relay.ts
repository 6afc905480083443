import type { Actor } from "../access/actor.ts";
import { isOwnProgram } from "../access/may.ts";
import { unseal } from "../crypto/seal.ts";
import { hashToken } from "../crypto/token.ts";
import type { Db } from "../db.ts";
import { env } from "../env.ts";
import { Prisma } from "../generated/prisma/client.ts";
import { normalPath } from "../http/normal-path.ts";

export type Relay = {
  name: string;
  url: string;
  createdAt: Date;
  expiresAt: Date;
  isListening: boolean;
  waiting: number;
};

export const RELAY_HOURS = 72;
export const RELAYS_MAX_PER_PERSON = 20;
export const INBOX_MAX_REQUESTS = 1_000;
export const INBOX_MAX_BYTES = 64 * 1024 * 1024;
export const RELAY_BODY_MAX_BYTES = 8 * 1024 * 1024;
/** The limit is that of other receivers (S120). */
export const RECORDED_BODY_MAX_BYTES = 64 * 1024;
/** Less than the 15 seconds of a delivery (S120). */
export const ANSWER_WAIT_MS = 14_000;

/** The payload is a relay's ID, with `LISTENER_MARK` appended if the relay or its listener changed. */
export const RELAY_CHANNEL = "relay";
export const LISTENER_MARK = "!";
export const RELAY_ANSWER_CHANNEL = "relay_answer";
export const RELAY_DELIVERY_CHANNEL = "relay_delivery";

export const TOKEN_PURPOSE = "relay token";

export type RelayRow = {
  name: string;
  token: Buffer;
  created_at: Date;
  expires_at: Date;
  is_listening: boolean;
  waiting: number;
};

export const relayColumns = `r.name, r.token, r.created_at, r.expires_at, coalesce(r.listening_until > now(), false) AS is_listening,
  (SELECT count(*)::int FROM relay_request q WHERE q.relay_id = r.id AND q.answered_at IS NULL AND q.handed_to IS NULL) AS waiting`;

export function toRelay(row: RelayRow): Relay {
  return {
    name: row.name,
    url: relayUrl(tokenOf(row.token) ?? ""),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    isListening: row.is_listening,
    waiting: row.waiting,
  };
}

export function tokenOf(sealed: Uint8Array): string | undefined {
  try {
    return unseal(TOKEN_PURPOSE, sealed);
  } catch {
    return undefined;
  }
}

export const relayUrl = (token: string): string => `${env().ORIGIN}/relay/${token}`;

export type RelayTarget = {
  token: string;
  /** The path is as it was sent, with the query, and begins with a slash. */
  path: string;
};

const TWO_SEGMENTS = /^\/[^/?]+\/[^/?]+/;

export const isRelayPath = (pathname: string): boolean => /^\/relay(\/|$)/.test(pathname);

export function parseRelayPath(path: string): RelayTarget | undefined {
  const [matched = ""] = TWO_SEGMENTS.exec(path) ?? [];
  const [, token] = /^\/relay\/([A-Za-z0-9_-]{43})$/.exec(normalPath(matched)) ?? [];
  if (token === undefined) return undefined;
  const rest = path.slice(matched.length);
  return { token, path: rest.startsWith("/") ? rest : `/${rest}` };
}

export function relayTargetOf(url: string): RelayTarget | undefined {
  const parsed = URL.parse(url);
  // A host may end in a dot.
  if (parsed?.origin.replace(/\.(?=$|:\d)/, "") !== new URL(env().ORIGIN).origin) return undefined;
  return parseRelayPath(parsed.pathname + parsed.search);
}

export async function isOwnRelay(tx: Db, token: string, userId: string): Promise<boolean> {
  const found = await tx.relay.count({
    where: { tokenHash: hashToken(token), userId, closedAt: null, expiresAt: { gt: new Date() } },
  });
  return found > 0;
}

/** Webhooks' secrets arrive in plain text at the user's relays, and an app may not read these secrets (decision 077). */
export const isLimitedToOwn = (actor: Actor): actor is Actor & { kind: "token" } =>
  actor.kind === "token" && !isOwnProgram(actor);

/** Use this in the statement that uses relay `r`, because the relay may change hands at any time. */
export const isRelayOf = (actor: Actor): Prisma.Sql =>
  isLimitedToOwn(actor)
    ? Prisma.sql`EXISTS (SELECT FROM delegation d WHERE d.id = r.delegation_id AND d.client_id = ${actor.clientId})`
    : Prisma.sql`TRUE`;
