import { randomBytes } from "node:crypto";
import { isIP } from "node:net";
import {
  domainOf,
  type EventDomain,
  type EventScope,
  eventDomains,
  type TestKind,
  testKinds,
  WATCHED_MAX_PER_WEBHOOK,
  type WatchedItemInput,
  WEBHOOK_NAME_MAX_CHARACTERS,
  WEBHOOK_SECRET_MAX_CHARACTERS,
  WEBHOOK_URL_MAX_CHARACTERS,
  watchTypes,
} from "@keyhook/sdk";
import { displayText, plainText } from "../../accounts/plain-text.ts";
import { ServiceError } from "../../errors.ts";
import { HOST_NAME_MAX, hasLongHost } from "../../http/has-long-host.ts";
import { isAllowedAddress } from "../../outbound/is-allowed-address.ts";
import { parseTarget } from "../../outbound/parse-target.ts";
import { relayTargetOf } from "../../relay/relay.ts";

const refuse = (field: string, sentence: string) => new ServiceError("invalid_request", sentence, { field });

/** Does not look the host up, because its addresses are checked when something is sent (S117). */
export function parseWebhookUrl(value: unknown): string {
  const text = plainText("url", value, WEBHOOK_URL_MAX_CHARACTERS).trim();
  if (text === "") throw refuse("url", "Enter the URL to which events are sent, such as https://example.com/hooks.");
  // The parser would drop these characters, so the URL that is used would differ from the one that is shown.
  if (/[\s\p{Cc}]/u.test(text)) throw refuse("url", "A URL cannot contain spaces or line breaks.");
  if (hasLongHost(text)) throw refuse("url", HOST_TOO_LONG);
  const url = URL.parse(text);
  if (!url || !/^https?:\/\//i.test(text) || url.hostname === "") {
    throw refuse("url", "Enter a full URL that begins with https:// or http://, such as https://example.com/hooks.");
  }
  if (url.username || url.password) {
    throw refuse(
      "url",
      "Remove the username and password from the URL: anybody who sees it could read them. Use the secret instead.",
    );
  }
  // Deliveries to a relay never use the network.
  if (relayTargetOf(text)) return text;
  const { host } = parseTarget({ url: text });
  if (/^\.*$/.test(host)) throw refuse("url", "The URL has no host.");
  // Each delivery parses the URL again.
  if (host.length > HOST_NAME_MAX) throw refuse("url", HOST_TOO_LONG);
  if (isIP(host) ? !isAllowedAddress(host) : isLoopbackName(host) && !isAllowedAddress("127.0.0.1")) {
    const sentence = `${host} is not on the public internet. The operator can allow it (OUTBOUND_ALLOW_CIDRS).`;
    throw refuse("url", sentence);
  }
  return text;
}

const HOST_TOO_LONG = "The host name in this URL is too long.";

const isLoopbackName = (host: string): boolean => /^(.+\.)?localhost$/i.test(host);

/**
 * A header must carry the secret unchanged, and HTTP drops spaces at the ends.
 * @returns null if there is no secret
 */
export function parseWebhookSecret(value: unknown): string | null {
  const text = plainText("secret", value, WEBHOOK_SECRET_MAX_CHARACTERS);
  if (text === "") return null;
  if (!/^[\x20-\x7e]*$/.test(text)) {
    throw refuse(
      "secret",
      "Use only ASCII letters, digits, spaces and punctuation: deliveries to a URL send the secret in a header.",
    );
  }
  if (text !== text.trim())
    throw refuse("secret", "A secret cannot begin or end with a space: HTTP strips such spaces from headers.");
  if (text.startsWith(PREFIX) && !isBase64(text.slice(PREFIX.length))) {
    throw refuse(
      "secret",
      "A secret that begins with whsec_ must continue with at least 16 bytes in base64. Other secrets can be any text.",
    );
  }
  return text;
}

const PREFIX = "whsec_";
const SECRET_BYTES = 32;
const SECRET_MIN_BYTES = 16;

function isBase64(text: string): boolean {
  const bytes = Buffer.from(text, "base64");
  return bytes.length >= SECRET_MIN_BYTES && bytes.toString("base64") === text;
}

export function newWebhookSecret(): string {
  return `${PREFIX}${randomBytes(SECRET_BYTES).toString("base64")}`;
}

type WebhookEvents = { domains: EventDomain[]; events: TestKind[] };

/** Existing clients leave the field out or send an empty list, which means all domains. */
export function parseEvents(domains: readonly string[] = [], kinds: readonly string[] = []): WebhookEvents {
  const unknown = domains.find((domain) => !eventDomains.includes(domain as EventDomain));
  if (unknown !== undefined) throw refuse("domains", `Choose from ${eventDomains.join(" and ")}.`);
  const named = eventDomains.filter((domain) => domains.length === 0 || domains.includes(domain));
  if (kinds.length === 0) return { domains: named, events: [] };
  if (kinds.includes("")) throw refuse("events", "Select at least one event.");
  const strange = kinds.find((kind) => !testKinds.includes(kind as TestKind) || !named.includes(domainOf(scopeOf(kind))));
  if (strange !== undefined)
    throw refuse(
      "events",
      `${strange.slice(0, 100)} is not an event in the ${named.length === 1 ? "domain" : "domains"} ${named.join(" and ")}.`,
    );
  const events = testKinds.filter((kind) => kinds.includes(kind));
  const needed = eventDomains.filter((domain) => events.some((kind) => domainOf(scopeOf(kind)) === domain));
  const isAll = testKinds.every((kind) => events.includes(kind) || !needed.includes(domainOf(scopeOf(kind))));
  return { domains: needed, events: isAll ? [] : events };
}

const scopeOf = (kind: string): EventScope => kind.slice(0, kind.lastIndexOf(".")) as EventScope;

export function parseWebhookName(value: unknown): string | null {
  return displayText("name", value, { maxCharacters: WEBHOOK_NAME_MAX_CHARACTERS, isRequired: false }) || null;
}

export function parseWatched(items: readonly WatchedItemInput[]): WatchedItemInput[] {
  if (items.length > WATCHED_MAX_PER_WEBHOOK) {
    throw refuse(
      "watched",
      `A webhook can watch at most ${WATCHED_MAX_PER_WEBHOOK} items. Watch an owner to watch all of their repositories.`,
    );
  }
  const distinct = new Map<string, WatchedItemInput>();
  for (const { type, name } of items) {
    if (!watchTypes.includes(type)) {
      const prefixes = watchTypes.map((each) => `${each}:`).join(", ");
      throw refuse("watched", `Put the type before ${String(name).slice(0, 100)}: one of ${prefixes}.`);
    }
    const text = plainText("watched", name, 300).trim();
    distinct.set(`${type}:${text.toLowerCase()}`, { type, name: text });
  }
  return [...distinct.values()];
}
