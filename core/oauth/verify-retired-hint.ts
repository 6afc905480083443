import { createPublicKey, type JsonWebKey, verify } from "node:crypto";
import { db } from "#core/db.ts";
import { env } from "#core/env.ts";

type Hint = { header: { kid?: unknown; alg?: unknown }; payload: { iss?: unknown; aud?: unknown; sub?: unknown } };

/**
 * Reads an ID token that one of our keys signed which is published no more. An app keeps the ID token of a sign-in for as long as
 * its own session lasts and sends it with the person's sign-out (`id_token_hint`), weeks after the last rotation (S108).
 * @returns undefined for anything else: another issuer's or client's token, a wrong signature, a key that never was ours.
 */
export async function verifyRetiredHint(jwt: string, clientId: string): Promise<Hint | undefined> {
  const [head = "", body = "", signature = ""] = jwt.split(".");
  const header = parse(head) as Hint["header"];
  const payload = parse(body) as Hint["payload"];
  if (payload.iss !== env().ORIGIN || payload.aud !== clientId || typeof payload.sub !== "string") return undefined;
  if (typeof header.kid !== "string") return undefined;
  const key = await db().signingKey.findUnique({ where: { kid: header.kid }, select: { alg: true, publicJwk: true } });
  if (!key || key.alg !== header.alg) return undefined;
  const publicKey = createPublicKey({ key: key.publicJwk as JsonWebKey, format: "jwk" });
  // RFC 7518 §3.4: an ES256 signature is the two numbers side by side, without DER.
  const options = { key: publicKey, dsaEncoding: "ieee-p1363" } as const;
  const isGenuine = verify("sha256", Buffer.from(`${head}.${body}`), options, Buffer.from(signature, "base64url"));
  return isGenuine ? { header, payload } : undefined;
}

function parse(part: string): object {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}
