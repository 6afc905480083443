import { calculateJwkThumbprint, type JWK } from "jose";
import type { OAuthApp } from "../../generated/prisma/client.ts";
import { algorithmsOf } from "../client-keys.ts";

/** What its managers see of one of an app's public keys. */
export type KeyDescription = {
  kid: string;
  /** What its assertions may be signed with. */
  algorithms: readonly string[];
  /** RFC 7638, to compare with the key at hand. */
  thumbprint: string;
};

/** The keys of an app; those behind a `jwksUri` are not asked for. */
export async function describeKeys({ jwks }: Pick<OAuthApp, "jwks">): Promise<KeyDescription[]> {
  const { keys } = (jwks ?? { keys: [] }) as { keys: JWK[] };
  return Promise.all(
    keys.map(async (key) => ({
      kid: key.kid ?? "",
      algorithms: algorithmsOf(key),
      thumbprint: await calculateJwkThumbprint(key),
    })),
  );
}
