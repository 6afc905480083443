import { calculateJwkThumbprint, type JWK } from "jose";
import type { OAuthApp } from "../../generated/prisma/client.ts";
import { algorithmsOf } from "../client-keys.ts";

/** What an app's managers see of one of its public keys. */
export type KeyDescription = {
  kid: string;
  /** The algorithms that its assertions may use. */
  algorithms: readonly string[];
  /** RFC 7638, to compare with one's own key. */
  thumbprint: string;
};

/** The keys of an app; those behind a `jwksUri` are not fetched. */
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
