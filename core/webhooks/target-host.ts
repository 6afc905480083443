import { hashToken } from "../crypto/token.ts";
import { env } from "../env.ts";
import { relayTargetOf } from "../relay/relay.ts";

const SPACE = /^\/spaces\/([^/]+\/[^/]+)\/app\//;

/**
 * Each relay and each Space counts as a host, so that none delays another (S128).
 * @param url null for a webhook with a job
 */
export function targetHost(url: string | null): string {
  if (url === null) return "";
  const relay = /[/\\]relay[/\\]|%/.test(url) ? relayTargetOf(url) : undefined;
  if (relay) return `relay:${hashToken(relay.token).slice(0, 16)}`;
  const parsed = URL.parse(url);
  // The attempt will fail, and record the reason.
  if (!parsed) return "invalid:0";
  const space = parsed.origin === new URL(env().ORIGIN).origin ? SPACE.exec(parsed.pathname)?.[1] : undefined;
  if (space) return `space:${space.toLowerCase()}`;
  return `${parsed.hostname.toLowerCase()}:${parsed.port || (parsed.protocol === "http:" ? 80 : 443)}`;
}
