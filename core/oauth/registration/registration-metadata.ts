import { scopes as allScopes, isScope, type Scope } from "@keyhook/sdk";
import { plainText } from "#core/accounts/plain-text.ts";
import { env } from "#core/env.ts";
import { invalidRequest, isServiceError } from "#core/errors.ts";
import { type OAuthApp, Prisma } from "#core/generated/prisma/client.ts";
import { parseClientMetadata } from "../clients/client-metadata.ts";
import { clientOfApp } from "../clients/client-of-app.ts";
import { DEVICE_CODE_GRANT } from "../grant-types.ts";
import { ProtocolError } from "../protocol-request.ts";
import { REGISTRATION } from "../protocol-routes.ts";
import { OFFLINE_ACCESS } from "../scopes.ts";

/** RFC 7591 §2, docs/specification/oauth.md#dynamic-registration. */
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
  isRefreshAllowed: boolean;
  isDeviceFlowAllowed: boolean;
  jwks: Prisma.InputJsonObject | typeof Prisma.DbNull;
  jwksUri: string | null;
  backchannelLogoutUri: string | null;
  registeredMetadata: RegisteredMetadata;
};

/** Named as in the RFC, because responses repeat the metadata. */
export type RegisteredMetadata = {
  token_endpoint_auth_method: (typeof authMethods)[number];
  /** If absent, the app may use all grants that its redirect URIs allow. */
  grant_types?: string[];
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
 * RFC 7591 §2.
 * @throws ProtocolError 400 with a code of RFC 7591 §3.2.2
 */
export function readRegistration(body: Body): RegisteredSettings {
  if (isGiven(body.software_statement)) {
    // RFC 7591 §2.3: the statement's claims would take precedence over the other members.
    throw new ProtocolError(400, "invalid_software_statement", "software statements are not supported: send plain metadata");
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
  // Apps of the device flow have no redirect URI, and some send an empty list.
  const { redirect_uris, ...others } = body;
  const given = Array.isArray(redirect_uris) && redirect_uris.length === 0 ? others : body;
  const metadata = parseClientMetadata(given, { authMethods });
  const redirectUris = metadata.redirect_uris ?? [];
  if (redirectUris.length === 0 && asksForCode(metadata)) {
    throw invalid("redirect_uris", "The authorization code grant requires at least one.");
  }
  // RFC 7591 §2: the default is `client_secret_basic`.
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
    isRefreshAllowed: metadata.grant_types?.includes("refresh_token") ?? true,
    isDeviceFlowAllowed: metadata.grant_types?.includes(DEVICE_CODE_GRANT) ?? true,
    jwks: (hasKeys && (metadata.jwks as unknown as Prisma.InputJsonObject)) || Prisma.DbNull,
    jwksUri: (hasKeys && metadata.jwks_uri) || null,
    backchannelLogoutUri: metadata.backchannel_logout_uri ?? null,
    registeredMetadata: withoutAbsent({
      token_endpoint_auth_method: authMethod,
      grant_types: metadata.grant_types,
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

const invalid = (field: string, sentence: string) => invalidRequest(sentence, field);

/** RFC 7591 §2.1: grant types and response types must fit the redirect URIs. */
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

/** RFC 7591 §3.2.1, RFC 7592 §3, docs/specification/oauth.md#dynamic-registration. */
export function describeRegistration({
  app,
  registrationToken,
  secret,
}: {
  app: OAuthApp;
  registrationToken: string;
  secret?: string;
}) {
  const { grant_types, response_types } = clientOfApp({ ...app, secrets: [] });
  const { scope: _asAsked, ...kept } = app.registeredMetadata as RegisteredMetadata;
  return {
    client_id: app.clientId,
    ...(secret && { client_secret: secret }),
    client_id_issued_at: Math.floor(app.createdAt.getTime() / 1000),
    client_secret_expires_at: 0,
    registration_access_token: registrationToken,
    registration_client_uri: `${env().ORIGIN}${REGISTRATION}/${app.clientId}`,
    client_name: app.name,
    ...(app.homepageUrl && { client_uri: app.homepageUrl }),
    redirect_uris: app.redirectUris,
    ...(app.postLogoutRedirectUris.length > 0 && { post_logout_redirect_uris: app.postLogoutRedirectUris }),
    scope: [...app.scopes, OFFLINE_ACCESS].join(" "),
    grant_types,
    response_types,
    id_token_signed_response_alg: app.idTokenAlg,
    ...(app.isParRequired && { require_pushed_authorization_requests: true }),
    ...(app.isDpopRequired && { dpop_bound_access_tokens: true }),
    ...(app.jwks !== null && { jwks: app.jwks }),
    ...(app.jwksUri && { jwks_uri: app.jwksUri }),
    ...(app.backchannelLogoutUri && { backchannel_logout_uri: app.backchannelLogoutUri }),
    ...kept,
  };
}
