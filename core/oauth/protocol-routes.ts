import { env } from "#core/env.ts";

/** The protocol's paths (docs/specification/oauth.md#endpoints) and the methods that each accepts. */
export const protocolRoutes = {
  authorization: "/oauth/authorize",
  token: "/oauth/token",
  userinfo: "/oauth/userinfo",
  jwks: "/oauth/jwks",
  revocation: "/oauth/revoke",
  introspection: "/oauth/introspect",
  end_session: "/oauth/logout",
  device_authorization: "/oauth/device",
  /** Where users enter a code: a page of ours, never the engine's (docs/decisions/025). */
  code_verification: "/device",
  pushed_authorization_request: "/oauth/par",
} as const;

/** Dynamic registration (RFC 7591) and its management, `/oauth/register/<client id>` (RFC 7592). The engine does not serve it. */
export const REGISTRATION = "/oauth/register";

/** The metadata of our API, for clients that know only its URL (RFC 9728). The engine does not serve it. */
export const RESOURCE_METADATA = "/.well-known/oauth-protected-resource";

/** All our paths under `/.well-known/` (next.config.js has the same list). */
export const wellKnownPaths: readonly string[] = [
  "/.well-known/openid-configuration",
  "/.well-known/oauth-authorization-server",
  RESOURCE_METADATA,
];

const DOCUMENT_METHODS = ["GET", "HEAD", "OPTIONS"] as const;

const methods: Record<string, readonly string[]> = {
  [protocolRoutes.authorization]: ["GET", "HEAD", "POST"],
  [protocolRoutes.token]: ["POST", "OPTIONS"],
  [protocolRoutes.userinfo]: ["GET", "HEAD", "POST", "OPTIONS"],
  [protocolRoutes.jwks]: ["GET", "HEAD", "OPTIONS"],
  [protocolRoutes.revocation]: ["POST", "OPTIONS"],
  [protocolRoutes.introspection]: ["POST", "OPTIONS"],
  [protocolRoutes.end_session]: ["GET", "HEAD", "POST"],
  [`${protocolRoutes.end_session}/confirm`]: ["POST"],
  [`${protocolRoutes.end_session}/success`]: ["GET", "HEAD"],
  // A user who opens the endpoint's URL is redirected to the page (docs/specification/oauth.md#endpoints).
  [protocolRoutes.device_authorization]: ["GET", "HEAD", "POST", "OPTIONS"],
  [protocolRoutes.pushed_authorization_request]: ["POST", "OPTIONS"],
  [REGISTRATION]: ["POST", "OPTIONS"],
  ...Object.fromEntries(wellKnownPaths.map((path) => [path, DOCUMENT_METHODS])),
};

/** Where an interrupted authorization continues: `/oauth/authorize/<uid>`. */
const RESUME = /^\/oauth\/authorize\/[\w-]{1,100}$/;

/** Where a self-registered app is read, changed and deleted: `/oauth/register/<client id>`. */
const REGISTERED = /^\/oauth\/register\/[\w-]{1,100}$/;

/** The methods of a path; undefined if it is not ours. Paths are compared exactly: with other spellings, requests would bypass checks. */
export function methodsOf(path: string): readonly string[] | undefined {
  if (Object.hasOwn(methods, path)) return methods[path];
  if (REGISTERED.test(path)) return ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"];
  return RESUME.test(path) ? ["GET", "HEAD"] : undefined;
}

const clientEndpoints: ReadonlySet<string> = new Set([
  protocolRoutes.token,
  protocolRoutes.introspection,
  protocolRoutes.revocation,
  protocolRoutes.device_authorization,
  protocolRoutes.pushed_authorization_request,
]);

/** Endpoints with client authentication, where failures are counted (S56). */
export const isClientEndpoint = (path: string): boolean => clientEndpoints.has(path);

/** Endpoints that a user's browser visits: they respond with pages, and no other site may read them (S53). */
export const isPersonEndpoint = (path: string): boolean => /^\/oauth\/(authorize|logout)(\/|$)/.test(path);

export const isSignOutEndpoint = (path: string): boolean => path.startsWith(protocolRoutes.end_session);

/** The authorization server's own metadata (RFC 8414, OpenID Connect Discovery). */
export const isMetadata = (path: string): boolean => path.startsWith("/.well-known/") && path !== RESOURCE_METADATA;

/** The key set and the metadata: the same for everyone, and cacheable. */
export const isPublicDocument = (path: string): boolean => path === protocolRoutes.jwks || path.startsWith("/.well-known/");

/** Endpoints where a posted form is equivalent to parameters in the URL. */
export const acceptsGetAndPost = (path: string): boolean =>
  path === protocolRoutes.authorization || path === protocolRoutes.end_session;

/** The URLs that an app's developer needs. A client library finds all of them from the issuer alone. */
type AppEndpoints = {
  issuer: string;
  discovery: string;
  authorization: string;
  token: string;
  userinfo: string;
  jwks: string;
  deviceAuthorization: string;
  /** The page where users enter a code. */
  codeVerification: string;
};

export function appEndpoints(): AppEndpoints {
  const { ORIGIN } = env();
  return {
    issuer: ORIGIN,
    discovery: `${ORIGIN}/.well-known/openid-configuration`,
    authorization: ORIGIN + protocolRoutes.authorization,
    token: ORIGIN + protocolRoutes.token,
    userinfo: ORIGIN + protocolRoutes.userinfo,
    jwks: ORIGIN + protocolRoutes.jwks,
    deviceAuthorization: ORIGIN + protocolRoutes.device_authorization,
    codeVerification: ORIGIN + protocolRoutes.code_verification,
  };
}
