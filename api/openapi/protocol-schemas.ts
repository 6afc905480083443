import type { ApiSchema } from "#core/api-document.ts";
import { DEVICE_CODE_GRANT, TOKEN_EXCHANGE_GRANT } from "#core/oauth/grant-types.ts";

export const text = (description: string, more: Partial<ApiSchema> = {}): ApiSchema => ({ type: "string", description, ...more });
const texts: ApiSchema = { type: "array", items: { type: "string" } };
export const number = (description: string): ApiSchema => ({ type: "integer", description });
export const object = (properties: Record<string, ApiSchema>, required: string[] = []): ApiSchema => ({
  type: "object",
  properties,
  ...(required.length > 0 && { required }),
});
const open = (properties: Record<string, ApiSchema>, required?: string[]): ApiSchema => ({
  ...object(properties, required),
  additionalProperties: true,
});
export const ref = (name: string): ApiSchema => ({ $ref: `#/components/schemas/${name}` });
export const protocolSchemas: Record<string, ApiSchema> = {
  OAuthError: object(
    {
      error: text("The error code: `invalid_request`, `invalid_client`, `invalid_grant`, `authorization_pending` …", {
        example: "invalid_grant",
      }),
      error_description: text("A sentence that says what to do."),
      error_uri: text("The URL of a page with more information."),
    },
    ["error"],
  ),
  TokenRequest: object(
    {
      grant_type: text("How the token is requested.", {
        enum: ["authorization_code", "refresh_token", DEVICE_CODE_GRANT, TOKEN_EXCHANGE_GRANT],
      }),
      client_id: text(
        "Not needed with `Authorization: Basic`. Apps with keys send it with `client_assertion` and `client_assertion_type` (RFC 7523).",
      ),
      client_secret: text("An alternative to `Authorization: Basic`."),
      code: text("`authorization_code`: the code."),
      redirect_uri: text("`authorization_code`: the same as in the authorization request."),
      code_verifier: text("`authorization_code`: the value from which `code_challenge` was computed (RFC 7636)."),
      refresh_token: text(
        "`refresh_token`: the latest refresh token. If the response contains a new one, the old one is no longer valid.",
      ),
      device_code: text("Device code: `device_code` of the device authorization response."),
      subject_token: text("Token exchange: the e-mail address of a member, or the ID token of a CI provider."),
      subject_token_type: text("Token exchange: the type of `subject_token`."),
      scope: text("A subset of the granted scopes, or for token exchange the requested scopes; separated by spaces."),
      resource: text("The server for which the token is requested (RFC 8707)."),
    },
    ["grant_type"],
  ),
  TokenResponse: object(
    {
      access_token: text("Opaque: clients must not parse it."),
      token_type: text("`bearer`, or `DPoP`.", { example: "bearer" }),
      expires_in: { ...number("Seconds."), example: 28_800 },
      scope: text("The granted scopes.", { example: "openid profile read-repos" }),
      id_token: text("With `openid`: a JWT, signed with RS256, or with ES256 if the app requests it."),
      refresh_token: text(
        "Present in the device flow, with the scope `offline_access`, and for apps that always get refresh tokens.",
      ),
      issued_token_type: text("Present after a token exchange (RFC 8693)."),
    },
    ["access_token", "token_type", "expires_in"],
  ),
  DeviceAuthorization: object(
    {
      device_code: text("The value that the device sends when it polls."),
      user_code: text("The code that the person enters.", { example: "WDJB-MJHT" }),
      verification_uri: text("The page on which the person enters the code."),
      verification_uri_complete: text("`verification_uri` with the code in it, for a QR code."),
      expires_in: { ...number("Seconds."), example: 900 },
      interval: { ...number("The minimum number of seconds between two polls."), example: 5 },
    },
    ["device_code", "user_code", "verification_uri", "expires_in", "interval"],
  ),
  Userinfo: object(
    {
      sub: text("The person's ID."),
      name: text("With `profile`."),
      preferred_username: text("With `profile`: their handle."),
      profile: text("With `profile`: their page."),
      picture: text("With `profile`."),
      website: text("With `profile`."),
      email: text("With `email`."),
      email_verified: { type: "boolean" },
      isPro: { type: "boolean" },
      canPay: { type: "boolean", description: "With `read-billing`." },
      billingMode: { type: "string", description: "With `read-billing`: `prepaid`." },
      orgs: {
        type: "array",
        items: ref("UserinfoOrganization"),
        description: "The organizations to which the person granted access.",
      },
      organizations: { type: "array", items: ref("UserinfoOrganization"), description: "The same as `orgs`." },
    },
    ["sub", "isPro", "orgs", "organizations"],
  ),
  UserinfoOrganization: object(
    {
      sub: text("The organization's ID, which `orgIds` accepts."),
      name: text("Its full name."),
      picture: text("Its picture."),
      preferred_username: text("Its handle."),
      plan: text("The organization's plan; absent if it has none."),
      roleInOrg: text("The person's role.", { enum: ["read", "contributor", "write", "admin"] }),
      isEnterprise: { type: "boolean" },
      securityRestrictions: texts,
    },
    ["sub", "name", "picture", "preferred_username"],
  ),
  Introspection: object(
    {
      active: { type: "boolean", description: "Whether the token is valid now. The other fields are present only if it is." },
      scope: text("Separated by spaces."),
      client_id: text("The client to which the token was issued."),
      sub: text("The person's ID."),
      aud: { description: "The servers for which the token was issued." },
      iss: text("Issuer."),
      token_type: text("`bearer` or `DPoP`."),
      exp: number("Seconds since 1970."),
      iat: number("Seconds since 1970."),
    },
    ["active"],
  ),
  KeySet: object({ keys: { type: "array", items: { type: "object", additionalProperties: true } } }, ["keys"]),
  ServerMetadata: open(
    {
      issuer: text("The service's origin."),
      authorization_endpoint: text("RFC 8414"),
      token_endpoint: text("RFC 8414"),
      jwks_uri: text("RFC 8414"),
      scopes_supported: texts,
      grant_types_supported: texts,
      code_challenge_methods_supported: texts,
      client_id_metadata_document_supported: { type: "boolean" },
    },
    ["issuer", "authorization_endpoint", "token_endpoint"],
  ),
  ResourceMetadata: open({ resource: text("This API."), authorization_servers: texts }, ["resource"]),
  ClientMetadata: open({
    client_name: text("The name that users see."),
    client_uri: text("Its homepage."),
    logo_uri: text("Its logo."),
    redirect_uris: { type: "array", maxItems: 50, items: { type: "string" } },
    scope: text("The scopes that it may request, separated by spaces."),
    token_endpoint_auth_method: text("How it authenticates.", {
      enum: ["client_secret_basic", "client_secret_post", "private_key_jwt", "none"],
    }),
    contacts: { type: "array", maxItems: 10, items: { type: "string" } },
    software_id: text("RFC 7591"),
    software_version: text("RFC 7591"),
  }),
};
