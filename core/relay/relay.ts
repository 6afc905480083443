import type { Actor } from "../access/actor.ts";
import { isOwnProgram } from "../access/may.ts";
import { unseal } from "../crypto/seal.ts";
import { hashToken } from "../crypto/token.ts";
import type { Db } from "../db.ts";
import { env } from "../env.ts";
import { Prisma } from "../generated/prisma/client.ts";

/** A public URL for a receiver that has none. */
export type Relay = {
  name: string;
  url: string;
  createdAt: Date;
  expiresAt: Date;
  isListening: boolean;
  /** Requests that no listener has received yet. */
  waiting: number;
};

/** How long a relay lives after its last renewal (docs/specification/webhooks.md#the-relay). */
export const RELAY_HOURS = 72;
export const RELAYS_MAX_PER_PERSON = 20;
/** How much one relay keeps at once, and how large a request or an answer may be. */
export const INBOX_MAX_REQUESTS = 1_000;
export const INBOX_MAX_BYTES = 64 * 1024 * 1024;
export const RELAY_BODY_MAX_BYTES = 8 * 1024 * 1024;
/** The part of the answer to a delivery that is recorded, as with other receivers (S120). */
export const RECORDED_BODY_MAX_BYTES = 64 * 1024;
/** How long a caller waits for the handler; a delivery has 15 seconds (S120). */
export const ANSWER_WAIT_MS = 14_000;

/** NOTIFY channel: there is a request, or room for one. The payload is the relay's id; with the mark, the relay or its listener changed. */
export const RELAY_CHANNEL = "relay";
export const LISTENER_MARK = "!";
/**
 * NOTIFY channels for an answered request, with its id: for a request whose caller waits, and for a delivery, which may have no waiting
 * caller.
 */
export const RELAY_ANSWER_CHANNEL = "relay_answer";
export const RELAY_DELIVERY_CHANNEL = "relay_delivery";

/** The purpose with which tokens are sealed (core/crypto/seal.ts). */
export const TOKEN_PURPOSE = "relay token";

export type RelayRow = {
  name: string;
  token: Buffer;
  created_at: Date;
  expires_at: Date;
  is_listening: boolean;
  waiting: number;
};

/** The columns of a `RelayRow` from a relay `r`. */
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

/** Undefined if it was sealed under another SECRET_KEY and is lost. */
export function tokenOf(sealed: Uint8Array): string | undefined {
  try {
    return unseal(TOKEN_PURPOSE, sealed);
  } catch {
    return undefined;
  }
}

export const relayUrl = (token: string): string => `${env().ORIGIN}/relay/${token}`;

/** The parts of a relay's URL. */
export type RelayTarget = {
  token: string;
  /** The rest of the path after the token, as sent, with the query; it begins with a slash. */
  path: string;
};

const RELAY = /^\/relay\/([^/?]+)/;

/** Whether a path is that of a relay: it goes only to the relay's door. */
export const isRelayPath = (pathname: string): boolean => /^\/relay(\/|$)/.test(pathname);

/** Parses a path with its query; undefined if it cannot contain a token. */
export function parseRelayPath(path: string): RelayTarget | undefined {
  const [matched = "", token = ""] = RELAY.exec(path) ?? [];
  if (!/^[A-Za-z0-9_-]{43}$/.test(token)) return undefined;
  const rest = path.slice(matched.length);
  return { token, path: rest.startsWith("/") ? rest : `/${rest}` };
}

/** Parses a whole URL; undefined if it is not the URL of a relay of this service. */
export function relayTargetOf(url: string): RelayTarget | undefined {
  const parsed = URL.parse(url);
  if (!parsed || parsed.origin !== new URL(env().ORIGIN).origin) return undefined;
  return parseRelayPath(parsed.pathname + parsed.search);
}

/** Whether a token belongs to one of the user's relays and works now. */
export async function isOwnRelay(tx: Db, token: string, userId: string): Promise<boolean> {
  const found = await tx.relay.count({
    where: { tokenHash: hashToken(token), userId, closedAt: null, expiresAt: { gt: new Date() } },
  });
  return found > 0;
}

/**
 * Whether an actor may use only the relays that it opened itself, as apps do: webhooks' secrets arrive in plain text at the user's other
 * relays, and an app may not read those secrets (decision 077). A user can use all their relays, on the pages and with their own programs.
 */
export const isLimitedToOwn = (actor: Actor): actor is Actor & { kind: "token" } =>
  actor.kind === "token" && !isOwnProgram(actor);

/**
 * SQL: whether an actor may use the relay `r`. It belongs in the statement that uses the relay, since the relay may change hands before
 * that.
 */
export const isRelayOf = (actor: Actor): Prisma.Sql =>
  isLimitedToOwn(actor)
    ? Prisma.sql`EXISTS (SELECT FROM delegation d WHERE d.id = r.delegation_id AND d.client_id = ${actor.clientId})`
    : Prisma.sql`TRUE`;
