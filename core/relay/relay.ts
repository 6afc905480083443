import { unseal } from "../crypto/seal.ts";
import { env } from "../env.ts";

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
/** How long a caller waits for the handler; a delivery has 15 seconds (S120). */
export const ANSWER_WAIT_MS = 14_000;

/** NOTIFY channel: there is a request, or room for one. The payload is the relay's id; with the mark, the relay or its listener changed. */
export const RELAY_CHANNEL = "relay";
export const LISTENER_MARK = "!";
/**
 * NOTIFY channel: there is an answer; the payload is the request's id. The other is for answers to deliveries, perhaps without
 * a waiting caller.
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
