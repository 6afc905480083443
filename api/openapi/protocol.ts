import type { ApiDocument, ApiOperation, ApiParameter, ApiSchema } from "#core/api-document.ts";
import { env } from "#core/env.ts";
import { protocolRoutes, REGISTRATION, RESOURCE_METADATA } from "#core/oauth/protocol-routes.ts";
import { number, object, ref, text } from "./protocol-schemas.ts";

/** Described by hand, because the engine has no schemas. The RFCs are the reference. */

const json = (description: string, schema: ApiSchema) => ({ description, content: { "application/json": { schema } } });
const form = (schema: ApiSchema) => ({ required: true, content: { "application/x-www-form-urlencoded": { schema } } });
const query = (name: string, description: string, example: string, required = false): ApiParameter => ({
  ...{ name, in: "query" as const, description, schema: { type: "string" }, example },
  ...(required && { required }),
});

const failed = json("An error with a code of RFC 6749 §5.2", ref("OAuthError"));
const errors = { 400: failed, 401: failed, 429: failed, 500: failed, 503: failed };
const asClient: ApiOperation["security"] = [{ clientBasic: [] }, {}];

const aToken = { token: text("An access or refresh token."), token_type_hint: text("The type of the token.") };

const authorizationParameters: ApiParameter[] = [
  query("response_type", "`code`", "code", true),
  query("client_id", "The app's client ID, or the URL of its metadata document.", "26be6b09-91c5-47da-9861-d2d2bb7a7e36", true),
  query(
    "redirect_uri",
    "One of the registered redirect URIs; on a loopback address, with any port.",
    "https://app.example.com/callback",
    true,
  ),
  query("scope", "Separated by spaces.", "openid profile read-repos"),
  query("state", "Returned unchanged in the response.", "af0ifjsldkj"),
  query(
    "code_challenge",
    "PKCE (RFC 7636). Required, unless a confidential app has turned it off.",
    "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
  ),
  query("code_challenge_method", "`S256`", "S256"),
  query("nonce", "Returned unchanged in the ID token.", "n-0S6_WzA2Mj"),
  query("orgIds", "The IDs of organizations to request access to: `orgs[].sub` of userinfo.", "5f9c1e2ab7d04c3e8f6a1b20"),
  query("prompt", "`consent` requests consent again, `login` requires a new sign-in, `none` shows no page.", "consent"),
  query("resource", "The server for which the token is requested (RFC 8707).", "https://api.example.com"),
];

type Paths = ApiDocument["paths"];

type Rest = Omit<ApiOperation, "operationId" | "summary" | "tags">;
const operation = (operationId: string, summary: string, rest: Rest): ApiOperation => ({
  operationId,
  tags: ["OAuth"],
  summary,
  ...rest,
});

const metadata = (operationId: string, summary: string): Paths[string] => ({
  get: operation(operationId, summary, {
    security: [],
    responses: { 200: json("The document", ref("ServerMetadata")), 503: failed },
  }),
});

const asksForUserinfo = (operationId: string): ApiOperation =>
  operation(operationId, "Get the signed-in user", {
    description: "Requires an OAuth access token with the scope `openid`.",
    security: [{ bearer: [] }, { dpop: [] }, { oauth2: ["openid"] }],
    "x-scopes": ["openid"],
    responses: { 200: json("The claims that the token's scopes allow", ref("Userinfo")), ...errors, 403: failed },
  });

export function protocolPaths(): Paths {
  const { VENDOR } = env();
  return {
    [protocolRoutes.authorization]: {
      get: operation("authorize", "Ask a person to sign in and grant access", {
        description: "Opened in the person's browser. The flow ends at `redirect_uri`, with `code` and `state`, or with `error`.",
        security: [],
        parameters: authorizationParameters,
        responses: {
          303: { description: "Redirects to sign-in and consent, and from there to `redirect_uri`" },
          400: { description: "An error page without a redirect: the app or its redirect URI is unknown" },
        },
      }),
    },
    [protocolRoutes.token]: {
      post: operation("createToken", "Get a token", {
        description: `Apps with a secret authenticate with \`Authorization: Basic\`. Token exchange accepts a member's e-mail address as \`urn:${VENDOR}:token-type:user-email\` (RFC 8693).`,
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
      post: operation("authorizeDevice", "Start a sign-in on a device without a browser", {
        description:
          "RFC 8628. Show the person `user_code` and `verification_uri`, and poll the token endpoint every `interval` seconds until the person has decided.",
        security: asClient,
        requestBody: form(
          object({ client_id: text("The app's client ID."), scope: text("Separated by spaces.") }, ["client_id"]),
        ),
        responses: { 200: json("The codes, and the page for the person", ref("DeviceAuthorization")), ...errors },
      }),
    },
    [protocolRoutes.pushed_authorization_request]: {
      post: operation("pushAuthorizationRequest", "Push an authorization request before redirecting the person", {
        description: "RFC 9126. The body is a form with the parameters of the authorization request.",
        security: asClient,
        requestBody: form(
          object({ client_id: text("The app's client ID."), redirect_uri: text("A registered redirect URI.") }, ["client_id"]),
        ),
        responses: {
          201: json(
            "The value for `request_uri`",
            object({ request_uri: text("Can be used once."), expires_in: number("Seconds.") }),
          ),
          ...errors,
        },
      }),
    },
    [protocolRoutes.userinfo]: { get: asksForUserinfo("getUserinfo"), post: asksForUserinfo("postUserinfo") },
    [protocolRoutes.revocation]: {
      post: operation("revokeToken", "Revoke a token", {
        description: "RFC 7009. The response is the same for every token, known or unknown.",
        security: asClient,
        requestBody: form(object({ ...aToken, client_id: text("The app's client ID.") }, ["token"])),
        responses: { 200: { description: "The token is no longer valid, or never was" }, ...errors },
      }),
    },
    [protocolRoutes.introspection]: {
      post: operation("introspectToken", "Introspect a token", {
        description: "RFC 7662, for servers that accept tokens of this service.",
        security: [{ clientBasic: [] }],
        requestBody: form(object(aToken, ["token"])),
        responses: { 200: json("Whether the token is valid, and its scopes and audience", ref("Introspection")), ...errors },
      }),
    },
    [protocolRoutes.jwks]: {
      get: operation("getKeys", "Get the public keys for verifying ID tokens", {
        security: [],
        responses: {
          200: { description: "A key set (RFC 7517)", content: { "application/jwk-set+json": { schema: ref("KeySet") } } },
          503: failed,
        },
      }),
    },
    [REGISTRATION]: {
      post: operation("registerClient", "Register an app dynamically", {
        description: "RFC 7591, if the operator allows registration.",
        security: [],
        requestBody: { required: true, content: { "application/json": { schema: ref("ClientMetadata") } } },
        responses: { 201: json("The registered app, with its `client_id`", ref("ClientMetadata")), ...errors, 403: failed },
      }),
    },
    "/.well-known/openid-configuration": metadata("getOpenidConfiguration", "Get the service's metadata (OpenID Discovery)"),
    "/.well-known/oauth-authorization-server": metadata("getServerMetadata", "Get the service's metadata (RFC 8414)"),
    [RESOURCE_METADATA]: {
      get: operation("getResourceMetadata", "Get the API's metadata as a protected resource (RFC 9728)", {
        security: [],
        responses: {
          200: json("The document", ref("ResourceMetadata")),
          503: failed,
        },
      }),
    },
  };
}
