import { isServiceError } from "#core/errors.ts";
import { type ClientMetadata, parseClientMetadata } from "../clients/client-metadata.ts";
import { OFFLINE_ACCESS } from "../scopes.ts";
import { DocumentError } from "./document-error.ts";

export type DocumentMetadata = Partial<ClientMetadata> & Pick<ClientMetadata, "client_name" | "redirect_uris">;

/** Everyone can read a document, so it can only contain public means of authentication (S72). */
const AUTH_METHODS = ["none", "private_key_jwt"];
const SECRETS = ["client_secret", "client_secret_expires_at"];

export function readDocument(clientId: string, bytes: Uint8Array): DocumentMetadata {
  const document = parseJson(bytes);
  // S70: otherwise anybody could copy another app's document and impersonate the app.
  if (document.client_id !== clientId) throw refused("client_id: This must be exactly the URL of the document.");
  const secret = SECRETS.find((name) => document[name] !== undefined && document[name] !== null);
  if (secret)
    throw refused(`${secret}: A public document must not contain a secret. Remove it, and replace it where it is used.`);
  const metadata = parse(document);
  const { client_name, redirect_uris } = metadata;
  if (client_name === undefined) throw refused("client_name: The document must contain the app's name.");
  if (redirect_uris === undefined) throw refused("redirect_uris: The document must list the URIs to which users return.");
  return { ...metadata, client_name, redirect_uris };
}

function parse(document: Record<string, unknown>): Partial<ClientMetadata> {
  try {
    return parseClientMetadata(document, { authMethods: AUTH_METHODS });
  } catch (error) {
    if (!isServiceError(error)) throw error;
    throw refused(error.field ? `${error.field}: ${error.message}` : error.message);
  }
}

function parseJson(bytes: Uint8Array): Record<string, unknown> {
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    value = JSON.parse(text);
  } catch {
    throw refused("The metadata document is not valid JSON in UTF-8.");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw refused("The metadata document is not a JSON object.");
  if (namesIn(text) !== countNames(value))
    throw refused("A name occurs twice in one of the metadata document's objects (RFC 7493, section 2.3).");
  return value as Record<string, unknown>;
}

function namesIn(text: string): number {
  return [...text.matchAll(/"(?:[^"\\]|\\.)*(?:"(\s*:)?)?/g)].filter(([, colon]) => colon !== undefined).length;
}

/** Repeated names are refused, because another parser may keep the first of them. */
function countNames(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const own = Array.isArray(value) ? 0 : Object.keys(value).length;
  return Object.values(value).reduce<number>((total, each) => total + countNames(each), own);
}

function refused(sentence: string): DocumentError {
  return new DocumentError("refused", sentence);
}

/**
 * Agents request only the scopes that the called service named, without `offline_access`. So the document may ask for refresh
 * tokens.
 */
export function wantsRefreshTokens({ scope, grant_types }: Pick<DocumentMetadata, "scope" | "grant_types">): boolean {
  return scope?.split(" ").includes(OFFLINE_ACCESS) || grant_types?.includes("refresh_token") || false;
}
