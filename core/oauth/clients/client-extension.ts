import { hashToken, isEqualInConstantTime } from "#core/crypto/token.ts";

export type ClientExtension = {
  isPkceRequired: boolean;
  isRefreshAlways: boolean;
  /** The owner turned rotation on where RFC 9700 does not require it. */
  isRefreshRotated?: true;
  isFapi?: true;
  accessTokenSeconds: number | null;
  isFirstParty?: true;
  isOwnerless?: true;
  secrets: StoredSecret[];
  /** The scopes of a request without `scope` (docs/decisions/012). */
  defaultScope: string;
};

type StoredSecret = { id: string; hash: string; expiresAt: number | null };

export const CLIENT_EXTENSION = "keyhook";

export function clientExtension(client: object): ClientExtension {
  return (client as Record<string, ClientExtension>)[CLIENT_EXTENSION] as ClientExtension;
}

export const isLiveSecret = ({ expiresAt }: StoredSecret): boolean => expiresAt === null || expiresAt > Date.now();

/** Compares all secrets, so that the time reveals none (S41). */
export function findClientSecret(secrets: readonly StoredSecret[], presented: string): StoredSecret | undefined {
  const hash = hashToken(presented);
  let match: StoredSecret | undefined;
  for (const secret of secrets) {
    if (isEqualInConstantTime(secret.hash, hash) && isLiveSecret(secret)) match = secret;
  }
  return match;
}
