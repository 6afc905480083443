import type { IncomingMessage, ServerResponse } from "node:http";
import { addressKey } from "#core/accounts/address-key.ts";
import { consumeThrottle, mayRecord, type ThrottleLimit, throttleKey } from "#core/accounts/throttle.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { isServiceError } from "#core/errors.ts";
import { hostnameOf } from "../documents/document-address.ts";
import { DocumentError } from "../documents/document-error.ts";
import { fetchLogo } from "../documents/fetch-document.ts";
import { decideHost, type HostRule } from "../documents/hosts/document-policy.ts";
import { namesCovering } from "../documents/hosts/host-name.ts";
import type { FetchedLogo } from "../documents/store-document.ts";
import { withinFetchLimits } from "../documents/within-fetch-limits.ts";
import { countFailure, guardAgainstGuessing } from "../failure-throttle.ts";
import { ProtocolError, readJsonObject } from "../protocol-request.ts";
import { REGISTRATION } from "../protocol-routes.ts";
import {
  type Claim,
  deleteRegisteredApp,
  readRegisteredApp,
  unknownRegistration,
  updateRegisteredApp,
} from "./manage-registration.ts";
import { registerApp } from "./register-app.ts";
import { describeRegistration, type RegisteredSettings, readRegistration } from "./registration-metadata.ts";
import { isRegistrationOn } from "./registration-policy.ts";

/** Addresses that have registered in this hour share a smaller total, so that a few addresses cannot lock out all others. */
export const REGISTRATIONS_OF_ADDRESS = { limit: 60, windowSeconds: 3600 };
export const REGISTRATIONS = { limit: 1_000, windowSeconds: 3600 };
export const REGISTRATIONS_AGAIN = { limit: 500, windowSeconds: 3600 };
/** Each change of an app writes an entry to the audit log. */
export const CHANGES_OF_APP = { limit: 20, windowSeconds: 3600 };

type Answer = { status: number; body?: unknown };

/** RFC 7591, RFC 7592. */
export async function handleRegistration(req: IncomingMessage, res: ServerResponse, clientAddress: string): Promise<void> {
  const path = (req.url ?? "").split("?", 1)[0] ?? "";
  const from = { ip: clientAddress || null, userAgent: req.headers["user-agent"] ?? null };
  const answer = path === REGISTRATION ? await register(req, from) : await manage(req, res, path, from);
  res.setHeader("Cache-Control", "no-store");
  if (answer.body === undefined) res.writeHead(answer.status).end();
  else {
    const headers = { "Content-Type": "application/json; charset=utf-8" };
    res.writeHead(answer.status, headers).end(JSON.stringify(answer.body));
  }
}

async function register(req: IncomingMessage, from: RequestOrigin): Promise<Answer> {
  await refuseWhileOff();
  await countAgainst(registrationsOf(from));
  const settings = readRegistration(await readJsonObject(req));
  await refuseBlockedHosts(settings);
  await takeShare(from);
  return { status: 201, body: describeRegistration(await registerApp(settings, await logoOf(settings, from), from)) };
}

async function manage(req: IncomingMessage, res: ServerResponse, path: string, from: RequestOrigin): Promise<Answer> {
  const clientId = path.slice(REGISTRATION.length + 1);
  guardAgainstGuessing(res, from.ip ?? "", clientId);
  try {
    const claim = { clientId, registrationToken: readToken(req) };
    if (req.method === "DELETE") {
      await deleteRegisteredApp(claim, from);
      return { status: 204 };
    }
    if (req.method === "PUT") return await replace(req, claim, from);
    return { status: 200, body: describeRegistration({ app: await readRegisteredApp(claim), ...claim }) };
  } catch (error) {
    if (error instanceof ProtocolError && error.status === 401) countFailure(res);
    throw error;
  }
}

async function replace(req: IncomingMessage, claim: Claim, from: RequestOrigin): Promise<Answer> {
  await readRegisteredApp(claim);
  await refuseWhileOff();
  await countAgainst(registrationsOf(from));
  const body = await readJsonObject(req);
  if (body.client_id !== claim.clientId) {
    throw new ProtocolError(400, "invalid_client_metadata", "client_id: send the client ID of this registration");
  }
  const presentedSecret = typeof body.client_secret === "string" ? body.client_secret : undefined;
  const settings = readRegistration(body);
  await refuseBlockedHosts(settings);
  await countAgainst([`changes of ${claim.clientId}`, CHANGES_OF_APP]);
  const logo = await logoOf(settings, from);
  const recorded = { subject: claim.clientId, limit: CHANGES_OF_APP.limit, ip: from.ip };
  const isRecorded = await mayRecord("registration_change", recorded);
  const updated = await updateRegisteredApp(claim, { settings, logo, isRecorded }, presentedSecret, from);
  return { status: 200, body: describeRegistration({ ...updated, ...claim }) };
}

/** The limits of metadata documents apply (S80, S82). An app is registered even if its logo cannot be fetched. */
async function logoOf({ registeredMetadata: { logo_uri } }: RegisteredSettings, { ip }: RequestOrigin): Promise<FetchedLogo> {
  if (!logo_uri) return null;
  const asked = { clientId: logo_uri, hostname: hostnameOf(logo_uri), use: "unknown", address: ip } as const;
  try {
    return (await withinFetchLimits(asked, () => fetchLogo(logo_uri))) ?? null;
  } catch (error) {
    if (error instanceof DocumentError) return null;
    throw error;
  }
}

/** RFC 6750 §2.1, with the scheme in any case. */
function readToken({ headers }: IncomingMessage): string {
  const [, token] = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(headers.authorization ?? "") ?? [];
  if (!token) throw unknownRegistration({ isTokenSent: headers.authorization !== undefined });
  return token;
}

async function refuseWhileOff(): Promise<void> {
  if (await isRegistrationOn()) return;
  const description =
    "dynamic registration is disabled here: publish a client ID metadata document, or ask the operator to create an app";
  throw new ProtocolError(403, "access_denied", description);
}

/** IPv6 addresses count by their /48, which one customer may have. */
const customerOf = ({ ip }: RequestOrigin): string => addressKey(ip, 48) ?? "unknown";

/** Counted before the body is read: reading and checking it is the most expensive part of a flood. */
const registrationsOf = (from: RequestOrigin): Limited => [customerOf(from), REGISTRATIONS_OF_ADDRESS];

/** Counts only valid registrations: senders of invalid ones must not lock out everybody. */
async function takeShare(from: RequestOrigin): Promise<void> {
  const { count, giveBack } = await countAgainst([`registered by ${customerOf(from)}`, REGISTRATIONS_OF_ADDRESS]);
  try {
    if (count > 1) await countAgainst(["again", REGISTRATIONS_AGAIN]);
    await countAgainst(["everybody", REGISTRATIONS]);
  } catch (error) {
    await giveBack();
    throw error;
  }
}

type Limited = [who: string, limit: ThrottleLimit];

/** See S56. */
async function countAgainst([who, limit]: Limited): ReturnType<typeof consumeThrottle> {
  try {
    return await consumeThrottle(throttleKey("registration", who), limit);
  } catch (error) {
    if (!isServiceError(error) || error.code !== "rate_limited") throw error;
    throw new ProtocolError(429, "temporarily_unavailable", error.message, { "Retry-After": String(error.retryAfterSeconds) });
  }
}

/** See S87. The policy for metadata documents does not apply here. */
async function refuseBlockedHosts(settings: RegisteredSettings): Promise<void> {
  const { redirectUris, postLogoutRedirectUris, homepageUrl, jwksUri, backchannelLogoutUri, registeredMetadata } = settings;
  const uris = {
    redirect_uris: redirectUris,
    post_logout_redirect_uris: postLogoutRedirectUris,
    client_uri: homepageUrl,
    jwks_uri: jwksUri,
    backchannel_logout_uri: backchannelLogoutUri,
    logo_uri: registeredMetadata.logo_uri,
    tos_uri: registeredMetadata.tos_uri,
    policy_uri: registeredMetadata.policy_uri,
  };
  const named = Object.entries(uris).flatMap(([field, value]) =>
    [value ?? []].flat().map((uri): [string, string] => [field, hostOf(uri)]),
  );
  const names = [...new Set(named.flatMap(([, hostname]) => namesCovering(hostname)))];
  const rules = (await db().oAuthClientHost.findMany({ where: { host: { in: names } } })) as HostRule[];
  const blocked = named.find(([, hostname]) => !decideHost(hostname, rules, "open").isAllowed);
  if (!blocked) return;
  const [field, hostname] = blocked;
  const error = field === "redirect_uris" ? "invalid_redirect_uri" : "invalid_client_metadata";
  throw new ProtocolError(400, error, `${field}: the operator of this service does not allow apps of ${hostname}`);
}

function hostOf(uri: string): string {
  const url = URL.parse(uri);
  return url && /^https?:$/.test(url.protocol) ? url.hostname.replace(/\.$/, "") : "";
}
