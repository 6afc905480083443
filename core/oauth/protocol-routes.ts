import { env } from "#core/env.ts";

/** See docs/specification/oauth.md#endpoints. */
export const protocolRoutes = {
  authorization: "/oauth/authorize",
  token: "/oauth/token",
  userinfo: "/oauth/userinfo",
  jwks: "/oauth/jwks",
  revocation: "/oauth/revoke",
  introspection: "/oauth/introspect",
  end_session: "/oauth/logout",
  device_authorization: "/oauth/device",
  /** This service's own page (docs/decisions/025). */
  code_verification: "/device",
  pushed_authorization_request: "/oauth/par",
} as const;

/** RFC 7591. Management is at `/oauth/register/<client id>` (RFC 7592). */
export const REGISTRATION = "/oauth/register";

/** For clients that know only the API's URL (RFC 9728). */
export const RESOURCE_METADATA = "/.well-known/oauth-protected-resource";

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
  // A browser that opens the endpoint is redirected to the page (docs/specification/oauth.md#endpoints).
  [protocolRoutes.device_authorization]: ["GET", "HEAD", "POST", "OPTIONS"],
  [protocolRoutes.pushed_authorization_request]: ["POST", "OPTIONS"],
  [REGISTRATION]: ["POST", "OPTIONS"],
  ...Object.fromEntries(wellKnownPaths.map((path) => [path, DOCUMENT_METHODS])),
};

const RESUME = /^\/oauth\/authorize\/[\w-]{1,100}$/;

const REGISTERED = /^\/oauth\/register\/[\w-]{1,100}$/;

/** Other spellings of a path could bypass checks, so they are unknown. */
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

export const isClientEndpoint = (path: string): boolean => clientEndpoints.has(path);

/** The responses are pages, which other sites must not read (S53). */
export const isPersonEndpoint = (path: string): boolean => /^\/oauth\/(authorize|logout)(\/|$)/.test(path);

export const isSignOutEndpoint = (path: string): boolean => path.startsWith(protocolRoutes.end_session);

/** RFC 8414, OpenID Connect Discovery. */
export const isMetadata = (path: string): boolean => path.startsWith("/.well-known/") && path !== RESOURCE_METADATA;

export const isPublicDocument = (path: string): boolean => path === protocolRoutes.jwks || path.startsWith("/.well-known/");

export const acceptsGetAndPost = (path: string): boolean =>
  path === protocolRoutes.authorization || path === protocolRoutes.end_session;

type AppEndpoints = {
  issuer: string;
  discovery: string;
  authorization: string;
  token: string;
  userinfo: string;
  jwks: string;
  deviceAuthorization: string;
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
