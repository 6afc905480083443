import { hashToken } from "../crypto/token.ts";
import { relayTargetOf } from "../relay/relay-target.ts";

/**
 * The host that deliveries share: `host:port` of the target in lower case, empty for a job (`delivery_queue.host`). Each of our
 * relays counts as a host of its own, so that none delays another (S128).
 * @param url null for a webhook with a job
 */
export function targetHost(url: string | null): string {
  if (url === null) return "";
  const relay = url.includes("/relay/") ? relayTargetOf(url) : undefined;
  if (relay) return `relay:${hashToken(relay.token).slice(0, 16)}`;
  const parsed = URL.parse(url);
  // It was checked when it was stored; if it is invalid all the same, the attempt says so.
  if (!parsed) return "invalid:0";
  return `${parsed.hostname.toLowerCase()}:${parsed.port || (parsed.protocol === "http:" ? 80 : 443)}`;
}
