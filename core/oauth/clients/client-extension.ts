import { hashToken, isEqualInConstantTime } from "#core/crypto/token.ts";

/** The client properties stored on the engine's own client beside RFC 7591 metadata. */
export type ClientExtension = {
  isPkceRequired: boolean;
  /** Gets refresh tokens without requesting `offline_access`. */
  isRefreshAlways: boolean;
  /** Each refresh replaces the refresh token, even where RFC 9700 does not require it. */
  isRefreshRotated?: true;
  /** The client must conform to the FAPI 2.0 Security Profile (docs/decisions/094). */
  isFapi?: true;
  accessTokenSeconds: number | null;
  /** The client comes with the service: the service's command line. */
  isFirstParty?: true;
  /** No account is responsible for the client: it registered itself, or has a metadata document. */
  isOwnerless?: true;
  secrets: StoredSecret[];
  /** The scopes of a request without `scope` (docs/decisions/012). */
  defaultScope: string;
};

type StoredSecret = { id: string; hash: string; expiresAt: number | null };

/** The metadata key of the extension. */
export const CLIENT_EXTENSION = "keyhook";

export function clientExtension(client: object): ClientExtension {
  return (client as Record<string, ClientExtension>)[CLIENT_EXTENSION] as ClientExtension;
}

export const isLiveSecret = ({ expiresAt }: StoredSecret): boolean => expiresAt === null || expiresAt > Date.now();

/** The live secret that equals `presented`. All are compared, so that timing reveals nothing (S41). */
export function findClientSecret(secrets: readonly StoredSecret[], presented: string): StoredSecret | undefined {
  const hash = hashToken(presented);
  let match: StoredSecret | undefined;
  for (const secret of secrets) {
    if (isEqualInConstantTime(secret.hash, hash) && isLiveSecret(secret)) match = secret;
  }
  return match;
}
