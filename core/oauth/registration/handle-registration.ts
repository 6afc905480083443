import type { IncomingMessage, ServerResponse } from "node:http";
import { addressKey } from "#core/accounts/address-key.ts";
import { consumeThrottle, type ThrottleLimit, throttleKey } from "#core/accounts/throttle.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { env } from "#core/env.ts";
import { isServiceError } from "#core/errors.ts";
import { countFailure, guardAgainstGuessing } from "../failure-throttle.ts";
import { ProtocolError, readJsonObject } from "../protocol-request.ts";
import { REGISTRATION } from "../protocol-routes.ts";
import { describeRegistration } from "./describe-registration.ts";
import {
  type Claim,
  deleteRegisteredApp,
  readRegisteredApp,
  unknownRegistration,
  updateRegisteredApp,
} from "./manage-registration.ts";
import { refuseBlockedHosts } from "./refuse-blocked-hosts.ts";
import { registerApp } from "./register-app.ts";
import { readRegistration } from "./registration-metadata.ts";
import { isRegistrationOn } from "./registration-policy.ts";

/** Registrations in an hour: of one address, behind which a whole office may be, and of all of them. */
export const REGISTRATIONS_OF_ADDRESS = { limit: 60, windowSeconds: 3600 };
export const REGISTRATIONS = { limit: 1_000, windowSeconds: 3600 };
/** Changes in an hour, each of which is an entry of the audit log: of one app; those of an address and of all count like registrations. */
export const CHANGES_OF_APP = { limit: 20, windowSeconds: 3600 };

type Answer = { status: number; body?: unknown };

/** Dynamic registration (RFC 7591) and its management (RFC 7592). */
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
  await slowDown(registrationsOf(from));
  const settings = readRegistration(await readJsonObject(req));
  await refuseBlockedHosts(settings);
  // Only what would be stored counts for everybody: with requests that come to nothing a few could shut all others out.
  await slowDown(["everybody", REGISTRATIONS]);
  return { status: 201, body: describeRegistration(await registerApp(settings, from)) };
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
  await slowDown(registrationsOf(from));
  const body = await readJsonObject(req);
  if (body.client_id !== claim.clientId) {
    throw new ProtocolError(400, "invalid_client_metadata", "client_id: name the client whose registration this is");
  }
  const presentedSecret = typeof body.client_secret === "string" ? body.client_secret : undefined;
  const settings = readRegistration(body);
  await refuseBlockedHosts(settings);
  await slowDown([`changes of ${claim.clientId}`, CHANGES_OF_APP]);
  await slowDown(["changes of everybody", REGISTRATIONS]);
  const updated = await updateRegisteredApp(claim, settings, presentedSecret, from);
  return { status: 200, body: describeRegistration({ ...updated, ...claim }) };
}

/** RFC 6750 §2.1; the scheme is compared without case. */
function readToken({ headers }: IncomingMessage): string {
  const [, token] = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(headers.authorization ?? "") ?? [];
  if (!token) throw unknownRegistration({ isTokenSent: headers.authorization !== undefined });
  return token;
}

/** While the switch is off nothing is registered or changed; what is registered can be read and deleted. */
async function refuseWhileOff(): Promise<void> {
  if (await isRegistrationOn()) return;
  const { BRAND_NAME } = env();
  const description = `programs cannot register themselves at this ${BRAND_NAME}: publish a client ID metadata document, or ask for an app`;
  throw new ProtocolError(403, "access_denied", description);
}

/** Counted before anything is read or checked, which is what a flood costs. By the /48: with all its networks a customer could take everybody's. */
const registrationsOf = ({ ip }: RequestOrigin): Limited => [addressKey(ip, 48) ?? "unknown", REGISTRATIONS_OF_ADDRESS];

type Limited = [who: string, limit: ThrottleLimit];

/** S56. */
async function slowDown([who, limit]: Limited): Promise<void> {
  try {
    await consumeThrottle(throttleKey("registration", who), limit);
  } catch (error) {
    if (!isServiceError(error) || error.code !== "rate_limited") throw error;
    throw new ProtocolError(429, "temporarily_unavailable", error.message, { "Retry-After": String(error.retryAfterSeconds) });
  }
}
