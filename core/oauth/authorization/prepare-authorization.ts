import { decodeJwt } from "jose";
import { errors, type KoaContextWithOIDC } from "oidc-provider";
import { addressKey } from "#core/accounts/address-key.ts";
import { consumeThrottle, type ThrottleLimit, throttleKey } from "#core/accounts/throttle.ts";
import { waitInWords } from "#core/counted.ts";
import { isServiceError } from "#core/errors.ts";
import { clientExtension } from "../clients/client-extension.ts";
import { hasSucceeded } from "../failure-throttle.ts";
import { OFFLINE_ACCESS, supportedScopes } from "../scopes.ts";
import { adoptSiteSession } from "../site-session.ts";

/** The engine calls this with every request (configuration.ts). The errors go to the redirect URI. */
export async function prepareAuthorization(ctx: KoaContextWithOIDC): Promise<void> {
  refuseLength(ctx);
  refuseRepetition(ctx);
  if (ctx.oidc.route === "device_authorization") return prepareDeviceAuthorization(ctx);
  refuseInvalidChallenge(ctx);
  completeScope(ctx);
  if (ctx.oidc.route === "authorization") await adoptSiteSession(ctx);
  if (ctx.oidc.route === "pushed_authorization_request") await countPushedRequest(ctx);
}

/** S143. nginx and Apache accept lines of at most 8 KiB by default. */
export const REQUEST_MAX_BYTES = 8 * 1024;

function refuseLength({ oidc }: KoaContextWithOIDC): void {
  const { params, entities } = oidc;
  if (entities.PushedAuthorizationRequest || Buffer.byteLength(JSON.stringify(params)) <= REQUEST_MAX_BYTES) return;
  const error = new errors.InvalidRequest(
    `the parameters of the request are longer than ${REQUEST_MAX_BYTES.toLocaleString("en")} bytes in total`,
  );
  // The error is not sent to the redirect URI, whose server would refuse a `state` of that length.
  throw Object.assign(error, { allow_redirect: false });
}

/**
 * Only unauthenticated clients are counted: an authenticated site pushes the requests of all its visitors from one address (S56).
 * A public client that has got tokens at its address may be such a site, so its limits are higher. Otherwise one stranger could
 * stop all sign-ins at the site.
 */
async function countPushedRequest(ctx: KoaContextWithOIDC): Promise<void> {
  if (ctx.oidc.client?.clientAuthMethod !== "none") return;
  await countStoredRequest(ctx, "pushed-request", "pushed requests", hasSucceeded(ctx.res) ? PUSHED_BY_SITES : undefined);
}

/** RFC 6749 §3.1. The engine checks only the parameters that it knows (S11). */
function refuseRepetition({ oidc, method, query }: KoaContextWithOIDC): void {
  const sent = method === "POST" ? (oidc.body ?? {}) : query;
  const repeated = Object.keys(sent).find((name) => Array.isArray(sent[name]) && !Object.hasOwn(oidc.params ?? {}, name));
  if (repeated !== undefined) throw new errors.InvalidRequest("a parameter must not be sent twice");
}

/** RFC 7636 §4.2. Otherwise the client would learn of its mistake only at the token endpoint (S10). */
function refuseInvalidChallenge({ oidc }: KoaContextWithOIDC): void {
  const challenge = oidc.params?.code_challenge;
  if (challenge === undefined || /^[A-Za-z0-9_-]{43}$/.test(String(challenge))) return;
  throw new errors.InvalidRequest("code_challenge must be a SHA-256 hash in base64url, 43 characters long");
}

/** RFC 9126 §4. */
function sentScope(ctx: KoaContextWithOIDC): string {
  const pushed = ctx.oidc.entities.PushedAuthorizationRequest?.request;
  if (pushed) return String(decodeJwt(pushed).scope ?? "");
  return String((ctx.method === "POST" ? ctx.oidc.body?.scope : ctx.query.scope) || "");
}

/** See S17, docs/decisions/012. */
function completeScope(ctx: KoaContextWithOIDC): void {
  const { params, client } = ctx.oidc;
  if (!params) return;
  const sent = sentScope(ctx);
  if (sent === "") {
    params.scope = client ? clientExtension(client).defaultScope : "openid profile";
    return;
  }
  const asked = sent.split(" ");
  if (!asked.some((scope) => supportedScopes.includes(scope))) {
    throw new errors.InvalidScope("none of the requested scopes exists", sent);
  }
  // The consent page names offline_access, but the engine drops it without prompt=consent (OIDC Core §11).
  if (asked.includes(OFFLINE_ACCESS)) {
    const kept = String(params.scope ?? "").split(" ");
    params.scope = [...new Set([...kept, OFFLINE_ACCESS])].filter(Boolean).join(" ");
  }
}

async function prepareDeviceAuthorization(ctx: KoaContextWithOIDC): Promise<void> {
  completeDeviceScope(ctx);
  await countStoredRequest(ctx, "device-code", "requests for device codes");
}

/** The public hub's command line sends no `scope` (C7 in docs/specification/existing-clients.md). */
function completeDeviceScope({ oidc: { params, body, client } }: KoaContextWithOIDC): void {
  if (!params || !client) return;
  const asked = String(body?.scope || "")
    .split(" ")
    .filter(Boolean);
  if (asked.length === 0) params.scope = clientExtension(client).defaultScope;
  if (asked.every((scope) => supportedScopes.includes(scope))) return;
  throw new errors.InvalidRequest(`there is an unknown scope; those that exist are ${supportedScopes.join(" ")}`);
}

/** The limits of anonymous requests that store something (S56). They suffice for a school class. */
export const STORED_REQUESTS_OF_CLIENT: ThrottleLimit = { limit: 100, windowSeconds: 60 };
export const STORED_REQUESTS_OF_ADDRESS: ThrottleLimit = { limit: 300, windowSeconds: 60 };
/** The limits of pushed requests from public clients with a server: for one app at an address, and for an address. */
const PUSHED_BY_SITES: [ThrottleLimit, ThrottleLimit] = [
  { limit: 1_000, windowSeconds: 60 },
  { limit: 3_000, windowSeconds: 60 },
];
/**
 * The limits of assertions and proofs of clients that authenticate but have no owner. They allow a site five sign-ins a second.
 */
export const ASSERTIONS_OF_CLIENT: ThrottleLimit = { limit: 300, windowSeconds: 60 };
export const ASSERTIONS_OF_ADDRESS: ThrottleLimit = { limit: 600, windowSeconds: 60 };

export async function countStoredRequest(
  ctx: KoaContextWithOIDC,
  kind: "device-code" | "pushed-request" | "pushed-proof" | "client-assertion",
  what: string,
  [limitOfClient, limitOfAddress] = [STORED_REQUESTS_OF_CLIENT, STORED_REQUESTS_OF_ADDRESS],
): Promise<void> {
  const address = addressKey(ctx.ip, 48) ?? "unknown";
  await countOrRefuse(ctx, what, [
    [throttleKey(`${kind}-client`, `${address} ${ctx.oidc.client?.clientId}`), limitOfClient],
    [throttleKey(`${kind}-address`, address), limitOfAddress],
  ]);
}

export async function countOrRefuse(
  ctx: KoaContextWithOIDC,
  what: string,
  counters: [key: string, limit: ThrottleLimit][],
): Promise<void> {
  try {
    for (const [key, limit] of counters) await consumeThrottle(key, limit);
  } catch (error) {
    if (!isServiceError(error)) throw error;
    const { retryAfterSeconds } = error;
    ctx.set("Retry-After", String(retryAfterSeconds));
    const description = `too many ${what}; try again in ${waitInWords(retryAfterSeconds ?? 1)}`;
    const refusal = new errors.CustomOIDCProviderError("temporarily_unavailable", description);
    throw Object.assign(refusal, { status: 429, statusCode: 429 });
  }
}
