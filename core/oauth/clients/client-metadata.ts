import { isOwnHost } from "@keyhook/sdk";
import type { JWKS } from "oidc-provider";
import { plainText } from "#core/accounts/plain-text.ts";
import { env } from "#core/env.ts";
import { invalidRequest, isServiceError, ServiceError } from "#core/errors.ts";
import { hasLongHost } from "#core/http/has-long-host.ts";
import { parseAppName } from "../apps/app-name.ts";
import { parseRedirectUris, parseServerAddress } from "../apps/app-settings.ts";
import { DEVICE_CODE_GRANT } from "../grant-types.ts";
import { supportedScopes } from "../scopes.ts";
import { parseJwks } from "./client-keys.ts";

/** RFC 7591 §2, with only the members that this service uses (S84). */
export type ClientMetadata = {
  client_name: string;
  redirect_uris: string[];
  post_logout_redirect_uris: string[];
  token_endpoint_auth_method: string;
  grant_types: string[];
  response_types: string[];
  scope: string;
  client_uri: string;
  logo_uri: string;
  tos_uri: string;
  policy_uri: string;
  jwks: JWKS;
  jwks_uri: string;
  id_token_signed_response_alg: "RS256" | "ES256";
  require_pushed_authorization_requests: boolean;
  dpop_bound_access_tokens: boolean;
  backchannel_logout_uri: string;
};

type Parsers = { [Field in keyof ClientMetadata]: (value: unknown) => ClientMetadata[Field] | undefined };

const GRANT_TYPES: readonly string[] = ["authorization_code", "refresh_token", DEVICE_CODE_GRANT];
const URI_MAX_CHARACTERS = 2_000;
const WORDS_MAX_CHARACTERS = 4_000;

const parsers: Parsers = {
  client_name: parseAppName,
  redirect_uris: (value) => {
    const uris = parseRedirectUris(list(value), "redirectUris");
    if (uris.length === 0) throw invalid("List at least one URL.");
    return uris;
  },
  post_logout_redirect_uris: (value) => parseRedirectUris(list(value), "postLogoutRedirectUris"),
  token_endpoint_auth_method: (value) => plainText("token_endpoint_auth_method", value, 100),
  grant_types: (value) => known(list(value), GRANT_TYPES, "grant"),
  response_types: (value) => {
    const types = list(value);
    return types.length === 0 ? [] : known(types, ["code"], "response type");
  },
  scope: (value) => {
    const words = plainText("scope", value, WORDS_MAX_CHARACTERS).split(" ");
    return supportedScopes.filter((scope) => words.includes(scope)).join(" ") || undefined;
  },
  client_uri: httpsUri,
  logo_uri: httpsUri,
  tos_uri: httpsUri,
  policy_uri: httpsUri,
  jwks: parseJwks,
  jwks_uri: (value) => parseServerAddress(value as string, "jwksUri"),
  id_token_signed_response_alg: (value) => {
    if (value === "RS256" || value === "ES256") return value;
    throw invalid("ID tokens can only be signed with RS256 or ES256.");
  },
  require_pushed_authorization_requests: flag,
  dpop_bound_access_tokens: flag,
  backchannel_logout_uri: (value) => parseServerAddress(value as string, "backchannelLogoutUri"),
};

/** @param authMethods must not allow a shared secret for a document, which everyone can read (S72) */
export function parseClientMetadata(
  input: unknown,
  { authMethods }: { authMethods: readonly string[] },
): Partial<ClientMetadata> {
  if (typeof input !== "object" || input === null || Array.isArray(input))
    throw invalid("Client metadata must be a JSON object.");
  const { scopes } = input as { scopes?: unknown };
  // HuggingChat's document uses the name `scopes` (docs/specification/oauth.md#client-id-metadata-documents).
  const given: Record<string, unknown> = { ...(typeof scopes === "string" && { scope: scopes }), ...input };
  const metadata = Object.fromEntries(
    Object.entries(parsers).flatMap(([field, parse]) => {
      const value = isAbsent(given[field]) ? undefined : inField(field, () => parse(given[field]));
      return value === undefined ? [] : [[field, value]];
    }),
  ) as Partial<ClientMetadata>;
  assertConsistent(metadata, authMethods);
  return metadata;
}

/** RFC 7591 §2 has no null. Some documents send an empty text for an absent value. */
function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

function inField<T>(field: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!isServiceError(error)) throw error;
    throw new ServiceError("invalid_request", error.message, { field, cause: error });
  }
}

function assertConsistent(
  { token_endpoint_auth_method: method, jwks, jwks_uri }: Partial<ClientMetadata>,
  allowed: readonly string[],
) {
  if (method !== undefined && !allowed.includes(method)) {
    throw invalid(`Choose one of: ${allowed.join(", ")}.`, "token_endpoint_auth_method");
  }
  if (jwks && jwks_uri) throw invalid("Send the keys either here or at jwks_uri, not both.", "jwks");
  if (method === "private_key_jwt" && !jwks && !jwks_uri) {
    throw invalid("private_key_jwt requires the client's public keys, in jwks or at jwks_uri.", "jwks");
  }
}

function list(value: unknown): string[] {
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value;
  throw invalid("This must be a list of strings.");
}

/** Unknown values are ignored, because a client may also use other services (S84). */
function known(values: string[], all: readonly string[], what: string): string[] {
  const kept = all.filter((each) => values.includes(each));
  if (kept.length === 0) throw invalid(`None of these is a ${what} of this service. Choose from: ${all.join(", ")}.`);
  return kept;
}

function flag(value: unknown): boolean {
  if (typeof value === "boolean") return value;
  throw invalid("This must be true or false.");
}

/** S83: with plain http, an attacker on the network path could change the response. */
function httpsUri(value: unknown): string {
  const text = plainText("uri", value, URI_MAX_CHARACTERS);
  const url = hasLongHost(text) ? null : URL.parse(text);
  if (url?.protocol !== "https:" || url.username || url.password || !/^https:\/\//i.test(text) || /\s/.test(text)) {
    throw invalid("This must be a URL that begins with https://.");
  }
  if (isOwnHost(url, env().ORIGIN)) throw invalid("This is a URL of this service. Enter a URL of your app.");
  return url.href;
}

function invalid(sentence: string, field?: string): ServiceError {
  return invalidRequest(sentence, field);
}
