import { createHmac } from "node:crypto";
import { derivedKey } from "../../crypto/seal.ts";
import { isEqualInConstantTime } from "../../crypto/token.ts";

/** By what a worker knows that a request for a Space comes from one of us: the Space, the time, and what only SECRET_KEY makes of them. */
export const GATEWAY_KEY_HEADER = "x-keyhook-space";

/** Names the party that asks (core/fair-queue), because one visitor keeps only some Spaces busy. */
export const PARTY_HEADER = "x-keyhook-party";

/** Clocks of machines differ; a key that was seen is worth nothing afterwards. */
const KEY_SECONDS = 120;

export function gatewayKey(repoId: string, now = Date.now()): string {
  const said = `${repoId}.${Math.floor(now / 1000)}`;
  return `${said}.${signature(said)}`;
}

/** The Space that a key is for; undefined for one that is none. */
export function readGatewayKey(key: string | string[] | undefined, now = Date.now()): string | undefined {
  const [repoId = "", seconds = "", given = ""] = String(key ?? "").split(".");
  if (!isEqualInConstantTime(given, signature(`${repoId}.${seconds}`))) return undefined;
  return Math.abs(now / 1000 - Number(seconds)) <= KEY_SECONDS ? repoId : undefined;
}

const signature = (said: string): string => createHmac("sha256", derivedKey("space gateway")).update(said).digest("base64url");
