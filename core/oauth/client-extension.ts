/** The client properties stored on the engine's own client beside RFC 7591 metadata. */
export type ClientExtension = {
  /** Where the client comes from: an app created here, or a document on its own site. */
  source: "app" | "document";
  isPkceRequired: boolean;
  /** Gets refresh tokens without asking for `offline_access`. */
  isRefreshAlways: boolean;
  accessTokenSeconds: number | null;
  /** It comes with the service: its command line. */
  isFirstParty?: true;
  secrets: StoredSecret[];
  /** The scope of a request that names none (docs/decisions/012). */
  defaultScope: string;
};

export type StoredSecret = { id: string; hash: string; expiresAt: number | null };

/** The metadata key of the extension. */
export const CLIENT_EXTENSION = "keyhook";

export function clientExtension(client: object): ClientExtension {
  return (client as Record<string, ClientExtension>)[CLIENT_EXTENSION] as ClientExtension;
}
