import { scopes as allScopes, isScope, type Scope } from "@keyhook/sdk";
import { plainText } from "#core/accounts/plain-text.ts";
import { isServiceError, ServiceError } from "#core/errors.ts";
import { Prisma } from "#core/generated/prisma/client.ts";
import { parseClientMetadata } from "../client-metadata/client-metadata.ts";
import { ProtocolError } from "../protocol-request.ts";

/**
 * What an app says of itself when it registers (RFC 7591 §2; docs/specification/oauth.md#dynamic-registration), checked, as the columns
 * of an OAuth app.
 */
export type RegisteredSettings = {
  name: string;
  homepageUrl: string | null;
  redirectUris: string[];
  postLogoutRedirectUris: string[];
  scopes: Scope[];
  isConfidential: boolean;
  idTokenAlg: "RS256" | "ES256";
  isParRequired: boolean;
  isDpopRequired: boolean;
  jwks: Prisma.InputJsonObject | typeof Prisma.DbNull;
  jwksUri: string | null;
  backchannelLogoutUri: string | null;
  registeredMetadata: RegisteredMetadata;
};

/** What has no column, in the RFC's words: kept to be told again. */
export type RegisteredMetadata = {
  token_endpoint_auth_method: (typeof authMethods)[number];
  /** As it was asked for; absent, the app may ask for everything and has said nothing of what it needs. */
  scope?: string;
  logo_uri?: string;
  tos_uri?: string;
  policy_uri?: string;
  contacts?: string[];
  software_id?: string;
  software_version?: string;
};

const authMethods = ["client_secret_basic", "client_secret_post", "private_key_jwt", "none"] as const;
const UNNAMED = "Unnamed app";
const TEXT_MAX_CHARACTERS = 200;
const CONTACTS_MAX = 10;

type Body = Record<string, unknown>;

/**
 * Checks a registration. Members that are not known here are ignored, as RFC 7591 §2 has it.
 * @throws ProtocolError 400 `invalid_redirect_uri`, `invalid_client_metadata`, `invalid_software_statement` (RFC 7591 §3.2.2)
 */
export function readRegistration(body: Body): RegisteredSettings {
  if (isGiven(body.software_statement)) {
    // Its claims would come before the others (RFC 7591 §2.3): ignored, the app would be another than it says.
    throw new ProtocolError(400, "invalid_software_statement", "software statements are not accepted here: send plain metadata");
  }
  try {
    return toSettings(body);
  } catch (error) {
    if (!isServiceError(error)) throw error;
    const isAddress = /redirect_?uris$/i.test(error.field ?? "");
    const description = error.field ? `${error.field}: ${error.message}` : error.message;
    throw new ProtocolError(400, isAddress ? "invalid_redirect_uri" : "invalid_client_metadata", description);
  }
}

function toSettings(body: Body): RegisteredSettings {
  // An app of the device flow has no redirect URI, and some say so with an empty list.
  const { redirect_uris, ...others } = body;
  const given = Array.isArray(redirect_uris) && redirect_uris.length === 0 ? others : body;
  const metadata = parseClientMetadata(given, { authMethods });
  const redirectUris = metadata.redirect_uris ?? [];
  if (redirectUris.length === 0 && asksForCode(metadata)) {
    throw invalid("redirect_uris", "The authorization code grant needs at least one.");
  }
  // RFC 7591 §2: the default of one who says nothing.
  const authMethod = (metadata.token_endpoint_auth_method as (typeof authMethods)[number]) ?? "client_secret_basic";
  const hasKeys = authMethod === "private_key_jwt";
  const asked = metadata.scope?.split(" ").filter(isScope) ?? [];
  return {
    name: metadata.client_name ?? UNNAMED,
    homepageUrl: metadata.client_uri ?? null,
    redirectUris,
    postLogoutRedirectUris: metadata.post_logout_redirect_uris ?? [],
    scopes: asked.length > 0 ? asked : [...allScopes],
    isConfidential: authMethod.startsWith("client_secret_"),
    idTokenAlg: metadata.id_token_signed_response_alg ?? "RS256",
    isParRequired: metadata.require_pushed_authorization_requests ?? false,
    isDpopRequired: metadata.dpop_bound_access_tokens ?? false,
    jwks: (hasKeys && (metadata.jwks as unknown as Prisma.InputJsonObject)) || Prisma.DbNull,
    jwksUri: (hasKeys && metadata.jwks_uri) || null,
    backchannelLogoutUri: metadata.backchannel_logout_uri ?? null,
    registeredMetadata: withoutAbsent({
      token_endpoint_auth_method: authMethod,
      scope: asked.length > 0 ? metadata.scope : undefined,
      logo_uri: metadata.logo_uri,
      tos_uri: metadata.tos_uri,
      policy_uri: metadata.policy_uri,
      contacts: contacts(body.contacts),
      software_id: shortText("software_id", body.software_id),
      software_version: shortText("software_version", body.software_version),
    }),
  };
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

const invalid = (field: string, sentence: string) => new ServiceError("invalid_request", sentence, { field });

/** RFC 7591 §2.1: what is said of one way to ask for a code must fit the others. */
function asksForCode(metadata: { grant_types?: string[]; response_types?: string[] }): boolean {
  return metadata.grant_types?.includes("authorization_code") || metadata.response_types?.includes("code") || false;
}

function shortText(field: string, value: unknown): string | undefined {
  return isGiven(value) ? plainText(field, value, TEXT_MAX_CHARACTERS) : undefined;
}

function contacts(value: unknown): string[] | undefined {
  if (!isGiven(value)) return undefined;
  if (!Array.isArray(value) || value.length > CONTACTS_MAX) throw invalid("contacts", `List at most ${CONTACTS_MAX} strings.`);
  return value.map((each) => plainText("contacts", each, TEXT_MAX_CHARACTERS));
}

function withoutAbsent<Members extends object>(members: Members): Members {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Members;
}
