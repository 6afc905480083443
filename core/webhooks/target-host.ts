import { hashToken } from "../crypto/token.ts";
import { env } from "../env.ts";
import { relayTargetOf } from "../relay/relay.ts";

/** The app of a Space (core/spaces/app-address.ts). */
const SPACE = /^\/spaces\/([^/]+\/[^/]+)\/app\//;

/**
 * The host that deliveries share: `host:port` of the target in lower case, empty for a job (`delivery_queue.host`). Each of our
 * relays, and the app of each Space, counts as a host of its own, so that none delays another (S128).
 * @param url null for a webhook with a job
 */
export function targetHost(url: string | null): string {
  if (url === null) return "";
  const relay = url.includes("/relay/") ? relayTargetOf(url) : undefined;
  if (relay) return `relay:${hashToken(relay.token).slice(0, 16)}`;
  const parsed = URL.parse(url);
  // The URL was checked when it was stored; if it is invalid all the same, the attempt fails with the reason.
  if (!parsed) return "invalid:0";
  const space = parsed.origin === new URL(env().ORIGIN).origin ? SPACE.exec(parsed.pathname)?.[1] : undefined;
  if (space) return `space:${space.toLowerCase()}`;
  return `${parsed.hostname.toLowerCase()}:${parsed.port || (parsed.protocol === "http:" ? 80 : 443)}`;
}
