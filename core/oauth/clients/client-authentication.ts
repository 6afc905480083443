import type { IncomingMessage, ServerResponse } from "node:http";
import { decodeJwt, decodeProtectedHeader } from "jose";
import { findArtifact } from "../artifacts/artifact-store.ts";
import { TOKEN_EXCHANGE_GRANT } from "../grant-types.ts";
import { ProtocolError } from "../protocol-request.ts";
import { protocolRoutes } from "../protocol-routes.ts";
import { findClientMetadata } from "./find-client.ts";

const FAILED_AUTHENTICATION = "client authentication failed";

/** The text is the same for every cause (S41, S89), and gives advice (docs/specification/oauth.md#device-authorization). */
export function failedAuthentication(path: string, grantType?: string | null): string {
  if (grantType === TOKEN_EXCHANGE_GRANT)
    return `${FAILED_AUTHENTICATION}; token exchange accepts the client ID and secret by HTTP Basic only`;
  if (path !== protocolRoutes.device_authorization) return FAILED_AUTHENTICATION;
  return `${FAILED_AUTHENTICATION}; an app with a secret must send the correct secret, by HTTP Basic or as client_secret; to use the app as a public app, delete its secret in its settings`;
}

const BASIC_CHALLENGE = 'Basic realm="OAuth"';

const usedBasic = new WeakSet<ServerResponse>();

/** RFC 6749 §5.2 requires the header only if the client used the Authorization header (S39). */
export function challengeFor(res: ServerResponse): Record<string, string> {
  return usedBasic.has(res) ? { "WWW-Authenticate": BASIC_CHALLENGE } : {};
}

/**
 * Returns the client ID without authenticating the client. The engine does that afterwards.
 * @throws ProtocolError 401 `invalid_client` (S39)
 */
export async function identifyClient(
  { headers }: IncomingMessage,
  res: ServerResponse,
  path: string,
  form: URLSearchParams,
): Promise<string> {
  const { authorization } = headers;
  if (authorization !== undefined) usedBasic.add(res);
  const basic = authorization === undefined ? undefined : readBasic(authorization, res, path, form);
  const assertion = form.get("client_assertion");
  const asserted = assertion ? readAsserted(assertion, res, path, form) : undefined;
  // openid-client 5 sends Basic with an empty secret (C3 in docs/specification/existing-clients.md). Beside another method the
  // header stays, so the engine rejects the request (S40).
  if (basic?.secret === "" && !form.get("client_secret") && !assertion) {
    delete headers.authorization;
    if (!form.get("client_id")) form.set("client_id", basic.clientId);
    if (form.get("client_id") !== basic.clientId) throw new ProtocolError(400, "invalid_request", "client_id mismatch");
  }
  // RFC 7662 §2.1: introspection requires client authentication (S104).
  const isAnonymous = !headers.authorization && !form.get("client_secret") && !assertion;
  if (isAnonymous && path === protocolRoutes.introspection) throw unauthenticated(res, path, form);

  const clientId = basic?.clientId || form.get("client_id") || asserted || (await identifyByCode(form));
  if (!clientId) throw unauthenticated(res, path, form);
  return clientId;
}

/** RFC 7617, RFC 6749 §2.3.1: the scheme is case-insensitive, and both parts are form-urlencoded. */
function readBasic(
  header: string,
  res: ServerResponse,
  path: string,
  form: URLSearchParams,
): { clientId: string; secret: string } {
  const [, encoded = ""] = /^basic ([A-Za-z0-9+/]+={0,2})$/i.exec(header) ?? [];
  const [id = "", ...rest] = Buffer.from(encoded, "base64").toString("utf8").split(":");
  if (id === "" || rest.length === 0) throw unauthenticated(res, path, form);
  try {
    return { clientId: formDecode(id), secret: formDecode(rest.join(":")) };
  } catch {
    throw unauthenticated(res, path, form);
  }
}

/** A genuine claim has fewer levels. The engine copies claims and headers recursively, outside of its `try` (S51). */
const LEVELS_MAX = 20;

function isDeep(value: unknown, levels = LEVELS_MAX): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((part) => isDeep(part, levels - 1));
}

/**
 * The client that an assertion names (RFC 7523 §3). The signature is not verified yet, so use the name only to count failures.
 */
function readAsserted(assertion: string, res: ServerResponse, path: string, form: URLSearchParams): string {
  try {
    const claims = decodeJwt(assertion);
    const { sub } = claims;
    if (sub && VSCHAR.test(sub) && !isDeep([claims, decodeProtectedHeader(assertion)])) return sub;
  } catch {}
  throw unauthenticated(res, path, form);
}

const VSCHAR = /^[\x20-\x7e]*$/;

function formDecode(part: string): string {
  const text = decodeURIComponent(part.replaceAll("+", " "));
  if (!VSCHAR.test(text)) throw new URIError("not VSCHAR (RFC 6749 appendix A.1, A.2)");
  return text;
}

/**
 * The public hub's JavaScript client sends no `client_id` (C2 in docs/specification/existing-clients.md). The code names its
 * client, and a public client's `client_id` proves nothing.
 */
async function identifyByCode(form: URLSearchParams): Promise<string | undefined> {
  const code = form.get("code");
  if (form.get("grant_type") !== "authorization_code" || !code) return undefined;
  const clientId = (await findArtifact("AuthorizationCode", code))?.clientId;
  if (typeof clientId !== "string") return undefined;
  const client = await findClientMetadata(clientId);
  if (client?.token_endpoint_auth_method !== "none") return undefined;
  form.set("client_id", clientId);
  return clientId;
}

function unauthenticated(res: ServerResponse, path: string, form: URLSearchParams): ProtocolError {
  const description = failedAuthentication(path, form.get("grant_type"));
  return new ProtocolError(401, "invalid_client", description, challengeFor(res));
}
