import { randomBytes } from "node:crypto";
import { isIP } from "node:net";
import {
  type EventDomain,
  eventDomains,
  WATCHED_MAX_PER_WEBHOOK,
  type WatchedItemInput,
  WEBHOOK_SECRET_MAX_CHARACTERS,
  WEBHOOK_URL_MAX_CHARACTERS,
  watchTypes,
} from "@keyhook/sdk";
import { plainText } from "../../accounts/plain-text.ts";
import { ServiceError } from "../../errors.ts";
import { isAllowedAddress } from "../../outbound/is-allowed-address.ts";
import { parseTarget } from "../../outbound/parse-target.ts";
import { relayTargetOf } from "../../relay/relay-target.ts";

const refuse = (field: string, sentence: string) => new ServiceError("invalid_request", sentence, { field });

/**
 * The URL that payloads are posted to, as typed. What its name resolves to is checked when something is sent (S117); a URL that
 * would always be refused is refused here, where the user sees why.
 * @throws ServiceError `invalid_request` with the field `url`
 */
export function parseWebhookUrl(value: unknown): string {
  const text = plainText("url", value, WEBHOOK_URL_MAX_CHARACTERS).trim();
  if (text === "") throw refuse("url", "Enter the address that events are posted to, such as https://example.com/hooks.");
  // The parser would drop tabs and line breaks, so that the URL used would differ from the one shown.
  if (/[\s\p{Cc}]/u.test(text)) throw refuse("url", "An address has no spaces or line breaks in it.");
  const url = URL.parse(text);
  if (!url || !/^https?:\/\//i.test(text) || url.hostname === "") {
    throw refuse("url", "Enter a whole address that begins with https:// or http://, such as https://example.com/hooks.");
  }
  if (url.username || url.password) {
    throw refuse(
      "url",
      "Leave the user name and password out of the address: anybody who sees it would read them. Use the secret.",
    );
  }
  // Requests to it never use the network (core/webhooks/delivery/deliver-to-relay.ts).
  if (relayTargetOf(text)) return text;
  const { host } = parseTarget({ url: text });
  if (/^\.*$/.test(host)) throw refuse("url", "The address names no host.");
  if (isIP(host) ? !isAllowedAddress(host) : isLoopbackName(host) && !isAllowedAddress("127.0.0.1")) {
    const sentence = `${host} is not on the public internet, and nothing is sent there. The operator can allow it (OUTBOUND_ALLOW_CIDRS).`;
    throw refuse("url", sentence);
  }
  return text;
}

const isLoopbackName = (host: string): boolean => /^(.+\.)?localhost$/i.test(host);

/**
 * A secret as typed; null for an empty one, which means none. Each delivery sends it in a header, so it must arrive unchanged:
 * HTTP drops spaces at the ends and forbids DEL.
 * @throws ServiceError `invalid_request` with the field `secret`
 */
export function parseWebhookSecret(value: unknown): string | null {
  const text = plainText("secret", value, WEBHOOK_SECRET_MAX_CHARACTERS);
  if (text === "") return null;
  if (!/^[\x20-\x7e]*$/.test(text)) {
    throw refuse("secret", "Use letters, digits, spaces and punctuation of ASCII only: the secret is sent in a header.");
  }
  if (text !== text.trim()) throw refuse("secret", "A secret cannot begin or end with a space: receivers would get it without.");
  if (text.startsWith(PREFIX) && !isBase64(text.slice(PREFIX.length))) {
    throw refuse("secret", "After whsec_ comes base64 of at least 16 bytes. Without whsec_ a secret can be any text.");
  }
  return text;
}

/** It is followed by the key in base64 (Standard Webhooks); libraries fail on anything else. */
const PREFIX = "whsec_";
const SECRET_BYTES = 32;
const SECRET_MIN_BYTES = 16;

function isBase64(text: string): boolean {
  const bytes = Buffer.from(text, "base64");
  return bytes.length >= SECRET_MIN_BYTES && bytes.toString("base64") === text;
}

/** A secret that libraries of Standard Webhooks accept unchanged. */
export function newWebhookSecret(): string {
  return `${PREFIX}${randomBytes(SECRET_BYTES).toString("base64")}`;
}

/** All domains if none is named: existing clients leave the field out or send it empty (docs/specification/webhooks.md#management). */
export function parseDomains(domains: readonly string[] | null | undefined): EventDomain[] {
  if (!domains || domains.length === 0) return [...eventDomains];
  const unknown = domains.find((domain) => !eventDomains.includes(domain as EventDomain));
  if (unknown !== undefined) throw refuse("domains", `Choose from ${eventDomains.join(" and ")}.`);
  return eventDomains.filter((domain) => domains.includes(domain));
}

/** The requested items to watch, without duplicates. @throws ServiceError `invalid_request` with the field `watched` */
export function parseWatched(items: readonly WatchedItemInput[]): WatchedItemInput[] {
  if (items.length > WATCHED_MAX_PER_WEBHOOK) {
    throw refuse("watched", `A webhook watches at most ${WATCHED_MAX_PER_WEBHOOK} items. Watch an owner to watch all of theirs.`);
  }
  const distinct = new Map<string, WatchedItemInput>();
  for (const { type, name } of items) {
    if (!watchTypes.includes(type))
      throw refuse("watched", `Watch one of ${watchTypes.join(", ")}: nothing else can be watched here.`);
    const text = plainText("watched", name, 300).trim();
    distinct.set(`${type}:${text.toLowerCase()}`, { type, name: text });
  }
  return [...distinct.values()];
}
