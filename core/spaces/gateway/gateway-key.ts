import { createHmac } from "node:crypto";
import { derivedKey } from "../../crypto/seal.ts";
import { isEqualInConstantTime } from "../../crypto/token.ts";

/** How a worker knows that a request for a Space comes from one of us: the Space, the time, and a MAC of them under SECRET_KEY. */
export const GATEWAY_KEY_HEADER = "x-keyhook-space";

/** Names the caller (core/fair-queue), because one visitor may keep only some Spaces busy. */
export const PARTY_HEADER = "x-keyhook-party";

/** Clocks of machines differ; a key seen by others is soon worthless. */
const KEY_SECONDS = 120;

export function gatewayKey(repoId: string, now = Date.now()): string {
  const said = `${repoId}.${Math.floor(now / 1000)}`;
  return `${said}.${signature(said)}`;
}

/** The Space that a key is for; undefined if it is invalid. */
export function readGatewayKey(key: string | string[] | undefined, now = Date.now()): string | undefined {
  const [repoId = "", seconds = "", given = ""] = String(key ?? "").split(".");
  if (!isEqualInConstantTime(given, signature(`${repoId}.${seconds}`))) return undefined;
  return Math.abs(now / 1000 - Number(seconds)) <= KEY_SECONDS ? repoId : undefined;
}

const signature = (said: string): string => createHmac("sha256", derivedKey("space gateway")).update(said).digest("base64url");
