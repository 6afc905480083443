import type { ApiDocument, ApiOperation, ApiParameter, ApiSchema } from "#core/api-document.ts";
import { env } from "#core/env.ts";
import { protocolRoutes, REGISTRATION, RESOURCE_METADATA } from "#core/oauth/protocol-routes.ts";

/**
 * The protocol's endpoints, described by hand: the engine behind them has no schemas, and the RFCs are the reference. Only what a client
 * needs to begin is here, so that one document tells a program everything.
 */

const text = (description: string, more: Partial<ApiSchema> = {}): ApiSchema => ({ type: "string", description, ...more });
const number = (description: string): ApiSchema => ({ type: "integer", description });
const object = (properties: Record<string, ApiSchema>, required: string[] = []): ApiSchema => ({
  type: "object",
  properties,
  ...(required.length > 0 && { required }),
});
const ref = (name: string): ApiSchema => ({ $ref: `#/components/schemas/${name}` });
const json = (description: string, schema: ApiSchema) => ({ description, content: { "application/json": { schema } } });
const form = (schema: ApiSchema) => ({ required: true, content: { "application/x-www-form-urlencoded": { schema } } });
const query = (name: string, description: string, example: string, required = false): ApiParameter => ({
  ...{ name, in: "query" as const, description, schema: { type: "string" }, example },
  ...(required && { required }),
});

const failed = json("What is wrong, in the words of the RFC (RFC 6749 §5.2)", ref("OAuthError"));
const errors = { 400: failed, 401: failed, 429: failed, 500: failed, 503: failed };
const asClient: ApiOperation["security"] = [{ clientBasic: [] }, {}];

export const protocolSchemas: Record<string, ApiSchema> = {
  OAuthError: object(
    {
      error: text("The word for it: `invalid_request`, `invalid_client`, `invalid_grant`, `authorization_pending` …", {
        example: "invalid_grant",
      }),
      error_description: text("A sentence that says what to do."),
      error_uri: text("Where there is more about it."),
    },
    ["error"],
  ),
  TokenRequest: object(
    {
      grant_type: text("Which way to a token.", {
        enum: [
          "authorization_code",
          "refresh_token",
          "urn:ietf:params:oauth:grant-type:device_code",
          "urn:ietf:params:oauth:grant-type:token-exchange",
        ],
      }),
      client_id: text("Of an app without a secret; others say who they are in `Authorization: Basic`."),
      client_secret: text("In place of `Authorization: Basic`."),
      code: text("`authorization_code`: the code."),
      redirect_uri: text("`authorization_code`: the same as in the authorization request."),
      code_verifier: text("`authorization_code`: what `code_challenge` was made from (RFC 7636)."),
      refresh_token: text("`refresh_token`: the latest; it is used up by this."),
      device_code: text("Device code: as the device authorization answered."),
      subject_token: text("Token exchange: the e-mail address of a member, or the ID token of a CI provider."),
      subject_token_type: text("Token exchange: what `subject_token` is."),
      scope: text("Less than was granted, or for token exchange what is asked for; separated by spaces."),
      resource: text("Whom the token is for (RFC 8707)."),
    },
    ["grant_type"],
  ),
  TokenResponse: object(
    {
      access_token: text("Opaque: nothing is to be read in it."),
      token_type: text("`bearer`, or `DPoP`.", { example: "bearer" }),
      expires_in: { ...number("Seconds."), example: 28_800 },
      scope: text("What was granted.", { example: "openid profile read-repos" }),
      id_token: text("With `openid`: a JWT, RS256."),
      refresh_token: text("Where there is one: device code, and apps that ask for it."),
      issued_token_type: text("Of an exchange (RFC 8693)."),
    },
    ["access_token", "token_type", "expires_in"],
  ),
  DeviceAuthorization: object(
    {
      device_code: text("What the device polls with."),
      user_code: text("What the person enters.", { example: "WDJB-MJHT" }),
      verification_uri: text("Where."),
      verification_uri_complete: text("The same with the code in it, for a QR code."),
      expires_in: { ...number("Seconds."), example: 900 },
      interval: { ...number("Seconds between two polls, at least."), example: 5 },
    },
    ["device_code", "user_code", "verification_uri", "expires_in", "interval"],
  ),
  Userinfo: object(
    {
      sub: text("The person's id."),
      name: text("With `profile`."),
      preferred_username: text("With `profile`: their handle."),
      profile: text("With `profile`: their page."),
      picture: text("With `profile`."),
      website: text("With `profile`."),
      email: text("With `email`."),
      email_verified: { type: "boolean" },
      isPro: { type: "boolean" },
      canPay: { type: "boolean", description: "With `read-billing`." },
      orgs: { type: "array", items: ref("UserinfoOrganization"), description: "Those that the person granted." },
      organizations: { type: "array", items: ref("UserinfoOrganization"), description: "The same as `orgs`." },
    },
    ["sub", "isPro", "orgs", "organizations"],
  ),
  UserinfoOrganization: object(
    {
      sub: text("Its id: what `orgIds` takes."),
      name: text("Its full name."),
      picture: text("Its picture."),
      preferred_username: text("Its handle."),
      plan: text("Absent without one."),
      roleInOrg: text("The person's role.", { enum: ["read", "contributor", "write", "admin"] }),
      isEnterprise: { type: "boolean" },
      securityRestrictions: { type: "array", items: { type: "string" } },
    },
    ["sub", "name", "picture", "preferred_username"],
  ),
  Introspection: object(
    {
      active: { type: "boolean", description: "Whether it is one now. All else only where it is." },
      scope: text("Separated by spaces."),
      client_id: text("Whose it is."),
      sub: text("For whom."),
      aud: { description: "For what." },
      iss: text("Issuer."),
      token_type: text("`bearer` or `DPoP`."),
      exp: number("Seconds since 1970."),
      iat: number("Seconds since 1970."),
    },
    ["active"],
  ),
  KeySet: object({ keys: { type: "array", items: { type: "object", additionalProperties: true } } }, ["keys"]),
  ServerMetadata: {
    ...object(
      {
        issuer: text("The service's origin."),
        authorization_endpoint: text("RFC 8414"),
        token_endpoint: text("RFC 8414"),
        jwks_uri: text("RFC 8414"),
        scopes_supported: { type: "array", items: { type: "string" } },
        grant_types_supported: { type: "array", items: { type: "string" } },
        code_challenge_methods_supported: { type: "array", items: { type: "string" } },
        client_id_metadata_document_supported: { type: "boolean" },
      },
      ["issuer", "authorization_endpoint", "token_endpoint"],
    ),
    additionalProperties: true,
  },
  ClientMetadata: {
    ...object({
      client_name: text("What people are shown."),
      client_uri: text("Its homepage."),
      logo_uri: text("Its logo."),
      redirect_uris: { type: "array", maxItems: 50, items: { type: "string" } },
      scope: text("What it may ask for; separated by spaces."),
      token_endpoint_auth_method: text("How it says who it is.", {
        enum: ["client_secret_basic", "client_secret_post", "private_key_jwt", "none"],
      }),
      contacts: { type: "array", maxItems: 10, items: { type: "string" } },
      software_id: text("RFC 7591"),
      software_version: text("RFC 7591"),
    }),
    additionalProperties: true,
  },
};

const authorizationParameters: ApiParameter[] = [
  query("response_type", "`code`", "code", true),
  query("client_id", "The app's, or the address of its metadata document.", "26be6b09-91c5-47da-9861-d2d2bb7a7e36", true),
  query("redirect_uri", "One of those registered; on a loopback address any port.", "https://app.example.com/callback", true),
  query("scope", "Separated by spaces.", "openid profile read-repos"),
  query("state", "Comes back with the answer.", "af0ifjsldkj"),
  query("code_challenge", "PKCE (RFC 7636); public apps need it.", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"),
  query("code_challenge_method", "`S256`", "S256"),
  query("nonce", "Comes back in the ID token.", "n-0S6_WzA2Mj"),
  query("orgIds", "The organizations to ask for: `orgs[].sub` of userinfo.", "5f9c1e2ab7d04c3e8f6a1b20"),
  query("prompt", "`consent` asks again, `login` signs in anew, `none` asks nothing.", "consent"),
  query("resource", "Whom the token is for (RFC 8707).", "https://api.example.com"),
];

type Paths = ApiDocument["paths"];

function operation(
  operationId: string,
  summary: string,
  more: Omit<ApiOperation, "operationId" | "summary" | "tags">,
): ApiOperation {
  return { operationId, tags: ["OAuth"], summary, ...more };
}

const metadata = (operationId: string, summary: string): Paths[string] => ({
  get: operation(operationId, summary, {
    security: [],
    responses: { 200: json("The document", ref("ServerMetadata")), 503: failed },
  }),
});

const asksForUserinfo = (operationId: string): ApiOperation =>
  operation(operationId, "Who signed in", {
    description: "Takes an access token of OAuth with the scope `openid`.",
    security: [{ bearer: [] }, { dpop: [] }, { oauth2: ["openid"] }],
    "x-scopes": ["openid"],
    responses: { 200: json("Claims, as the token's scopes allow", ref("Userinfo")), ...errors, 403: failed },
  });

export function protocolPaths(): Paths {
  const { VENDOR } = env();
  return {
    [protocolRoutes.authorization]: {
      get: operation("authorize", "Ask a person to sign in and to grant", {
        description: "Opened in the person's browser. It ends at `redirect_uri`, with `code` and `state`, or with `error`.",
        security: [],
        parameters: authorizationParameters,
        responses: {
          303: { description: "To the person's sign-in and consent, and then to `redirect_uri`" },
          400: { description: "A page: the app or its redirect URI is not known, and nobody is sent anywhere" },
        },
      }),
    },
    [protocolRoutes.token]: {
      post: operation("createToken", "Get a token", {
        description: `Apps with a secret say who they are in \`Authorization: Basic\`. Token exchange takes a member's e-mail address as \`urn:${VENDOR}:token-type:user-email\` (RFC 8693).`,
        security: asClient,
        requestBody: {
          required: true,
          content: {
            "application/x-www-form-urlencoded": { schema: ref("TokenRequest") },
            "application/json": { schema: ref("TokenRequest") },
          },
        },
        responses: { 200: json("The token", ref("TokenResponse")), ...errors },
      }),
    },
    [protocolRoutes.device_authorization]: {
      post: operation("authorizeDevice", "Begin on a device without a browser", {
        description:
          "RFC 8628. Show the person `user_code` and `verification_uri`, and ask the token endpoint every `interval` seconds until they have answered.",
        security: asClient,
        requestBody: form(object({ client_id: text("The app's."), scope: text("Separated by spaces.") }, ["client_id"])),
        responses: { 200: json("Where the person is to go", ref("DeviceAuthorization")), ...errors },
      }),
    },
    [protocolRoutes.pushed_authorization_request]: {
      post: operation("pushAuthorizationRequest", "Leave an authorization request before the person is sent", {
        description: "RFC 9126: the parameters of the authorization request as a form.",
        security: asClient,
        requestBody: form(
          object({ client_id: text("The app's."), redirect_uri: text("One of those registered.") }, ["client_id"]),
        ),
        responses: {
          201: json("What to send as `request_uri`", object({ request_uri: text("One use."), expires_in: number("Seconds.") })),
          ...errors,
        },
      }),
    },
    [protocolRoutes.userinfo]: { get: asksForUserinfo("getUserinfo"), post: asksForUserinfo("postUserinfo") },
    [protocolRoutes.revocation]: {
      post: operation("revokeToken", "End a token", {
        description: "RFC 7009. The answer is the same whatever the token was.",
        security: asClient,
        requestBody: form(
          object(
            { token: text("An access or refresh token."), token_type_hint: text("What it is."), client_id: text("The app's.") },
            ["token"],
          ),
        ),
        responses: { 200: { description: "It is none any more" }, ...errors },
      }),
    },
    [protocolRoutes.introspection]: {
      post: operation("introspectToken", "Ask what a token is", {
        description: "RFC 7662, for servers that take tokens of this service.",
        security: [{ clientBasic: [] }],
        requestBody: form(object({ token: text("The token."), token_type_hint: text("What it is.") }, ["token"])),
        responses: { 200: json("Whether it is one, and for what", ref("Introspection")), ...errors },
      }),
    },
    [protocolRoutes.jwks]: {
      get: operation("getKeys", "The keys of ID tokens", {
        security: [],
        responses: {
          200: { description: "A key set (RFC 7517)", content: { "application/jwk-set+json": { schema: ref("KeySet") } } },
          503: failed,
        },
      }),
    },
    [REGISTRATION]: {
      post: operation("registerClient", "Register an app by program", {
        description: "RFC 7591, where the operator allows it.",
        security: [],
        requestBody: { required: true, content: { "application/json": { schema: ref("ClientMetadata") } } },
        responses: { 201: json("The app as it was registered, with `client_id`", ref("ClientMetadata")), ...errors, 403: failed },
      }),
    },
    "/.well-known/openid-configuration": metadata(
      "getOpenidConfiguration",
      "What this service offers (OpenID Connect Discovery)",
    ),
    "/.well-known/oauth-authorization-server": metadata("getServerMetadata", "The same by RFC 8414"),
    [RESOURCE_METADATA]: {
      get: operation("getResourceMetadata", "What this API says of itself to clients that have only its address (RFC 9728)", {
        security: [],
        responses: {
          200: json("The document", {
            ...object({ resource: text("This API."), authorization_servers: { type: "array", items: { type: "string" } } }, [
              "resource",
            ]),
            additionalProperties: true,
          }),
          503: failed,
        },
      }),
    },
  };
}
