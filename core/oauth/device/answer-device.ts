import ipaddr from "ipaddr.js";
import { isRecentlyAuthenticated } from "../../access/may.ts";
import { addressKey } from "../../accounts/address-key.ts";
import type { SiteSession } from "../../accounts/sessions/find-site-session.ts";
import { recordAboutSomebody } from "../../audit/record-about-somebody.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, db, pool } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { countAuthorization } from "../apps/count-usage.ts";
import { insertGrant } from "../artifacts/grant-store.ts";
import { ANOTHER_ACCOUNT } from "../authorization/interaction.ts";
import { findClientMetadata } from "../clients/find-client.ts";
import { type ConsentRequest, readConsentRequest } from "../consents/consent-request.ts";
import { fillGrant } from "../consents/load-existing-grant.ts";
import { assertAsked, type ConsentAnswer, storeAnswer } from "../consents/store-answer.ts";
import { DEVICE_CODE_GRANT } from "../grant-types.ts";
import { currentProvider } from "../provider.ts";
import { amrOf } from "../site-session.ts";
import { alreadyAnswered, type ClaimedDeviceCode, claimDeviceCode, IS_ANSWERED } from "./claim-device-code.ts";
import type { DeviceInfo } from "./issue-device-code.ts";
import { formatUserCode, parseUserCode } from "./user-code.ts";

/**
 * @throws ServiceError `invalid_request` if the answer contains something that was not requested (S33)
 * @throws ServiceError `forbidden` if another account claimed the code (S25)
 * @throws ServiceError `reauthentication_required` for this service's command line (S113)
 */
export async function approveDevice(
  session: SiteSession,
  typedCode: string,
  answer: ConsentAnswer,
  from: RequestOrigin,
): Promise<void> {
  const userId = session.user.id;
  if (answer.accountId !== userId) throw new ServiceError("forbidden", ANOTHER_ACCOUNT);
  const code = await claimDeviceCode(session, typedCode, from);
  const request = await readDeviceConsent(code, session);
  assertAsked(request, answer);
  if (needsRecentProof(request, session)) {
    throw new ServiceError("reauthentication_required", "Confirm your identity to authorize the command line.");
  }
  const authTime = Math.floor(session.authenticatedAt.getTime() / 1000);
  const { userCode, clientId, device } = code;
  const provider = await currentProvider();
  await db().$transaction(async (tx) => {
    const choice = await storeAnswer(tx, { userId, clientId }, request, answer, from);
    const grant = new provider.Grant({ accountId: userId, clientId });
    fillGrant(grant, choice);
    await answerDeviceCode(
      tx,
      { userCode, userId },
      {
        accountId: userId,
        grantId: await insertGrant(tx, grant, { authTime }),
        scope: grant.getOIDCScopeFiltered(requestedScopes(code)),
        authTime,
        amr: amrOf(session),
        ...resourceOf(code),
      },
    );
    await recordAuditEvent(tx, { type: "device.approve", actorId: userId, clientId, data: { device }, from });
  });
  countAuthorization(clientId, userId);
}

/** This service's command line gets as many rights as a personal access token (S113). */
export function needsRecentProof({ app }: ConsentRequest, session: SiteSession): boolean {
  return app.isFirstParty && !isRecentlyAuthenticated(session);
}

const requestedScopes = ({ params }: ClaimedDeviceCode): Set<string> => new Set(String(params.scope ?? "").split(" "));

/** RFC 8707 §2. */
function resourceOf({ params: { resource } }: ClaimedDeviceCode): { resource?: string | string[] } {
  return typeof resource === "string" || (Array.isArray(resource) && resource.length > 0) ? { resource } : {};
}

export async function denyDevice(session: SiteSession, typedCode: string, from: RequestOrigin): Promise<void> {
  const { userCode, clientId, device } = await claimDeviceCode(session, typedCode, from);
  const userId = session.user.id;
  await db().$transaction(async (tx) => {
    // The public hub's clients show this description (docs/specification/oauth.md#device-authorization).
    await answerDeviceCode(tx, { userCode, userId }, { error: "access_denied", errorDescription: "Device code denied" });
    await recordAboutSomebody(tx, { type: "device.deny", actorId: userId, subjectId: userId, clientId, data: { device }, from });
  });
}

/** The engine reads the answer in this form at the next poll. */
type DeviceAnswer =
  | {
      accountId: string;
      grantId: string;
      scope: string;
      /** Seconds since 1970 (OIDC Core §2). */
      authTime: number;
      amr: string[] | undefined;
      resource?: string | string[];
    }
  | { error: "access_denied"; errorDescription: string };

const ANSWER = `UPDATE oauth_artifact SET account_id = $1, grant_id = $2, payload = payload || $3::jsonb
  WHERE model = 'DeviceCode' AND user_code = $4 AND claimed_by_id = $5 AND expires_at > now() AND NOT ${IS_ANSWERED}`;

async function answerDeviceCode(
  tx: Db,
  { userCode, userId }: { userCode: string; userId: string },
  answer: DeviceAnswer,
): Promise<void> {
  const [accountId, grantId] = "grantId" in answer ? [answer.accountId, answer.grantId] : [null, null];
  const values = [accountId, grantId, JSON.stringify(answer), userCode, userId];
  const count = await tx.$executeRawUnsafe(ANSWER, ...values);
  if (count !== 1) throw alreadyAnswered();
}

/** See S64. */
export type DeviceRequest = {
  userCode: string;
  requestedAt: Date;
  expiresAt: Date;
  device: DeviceInfo;
  /** The device is in another network: an attacker may have started the request and sent the code to the user. */
  isFromOtherNetwork: boolean;
  consent: ConsentRequest;
};

/**
 * Afterwards only this user can answer the request (S65).
 * @param typedCode case, hyphens and spaces are ignored (S58)
 * @throws ServiceError `rate_limited` after too many wrong codes (S59)
 */
export async function openDeviceRequest(session: SiteSession, typedCode: string, from: RequestOrigin): Promise<DeviceRequest> {
  const code = await claimDeviceCode(session, typedCode, from);
  const { requestedAt, expiresAt, device } = code;
  return {
    userCode: formatUserCode(code.userCode),
    requestedAt,
    expiresAt,
    device,
    isFromOtherNetwork: isFromOtherNetwork(device, from),
    consent: await readDeviceConsent(code, session),
  };
}

/**
 * Asks about everything each time, because nothing proves that the device belongs to the user (RFC 8628 §5.4,
 * docs/specification/oauth.md#device-authorization).
 */
async function readDeviceConsent({ clientId, params }: ClaimedDeviceCode, session: SiteSession): Promise<ConsentRequest> {
  const request = await readConsentRequest({ ...params, client_id: clientId, prompt: "consent" }, session);
  const client = await findClientMetadata(clientId);
  if (client?.grant_types?.includes(DEVICE_CODE_GRANT)) return request;
  throw new ServiceError("gone", "This app can no longer sign in with a code (its device flow is off). You can close this page.");
}

function isFromOtherNetwork(device: DeviceInfo, from: RequestOrigin): boolean {
  const [there, here] = [networkOf(device.ip), networkOf(from.ip)];
  return there !== undefined && here !== undefined && there !== here;
}

/** A browser may use `127.0.0.1` while a program on the same machine uses `::1`. */
function networkOf(ip: string | null): string | undefined {
  return ip && ipaddr.isValid(ip) && ipaddr.process(ip).range() === "loopback" ? "loopback" : addressKey(ip);
}

type GivenAnswer = { clientId: string; isApproved: boolean };

export async function findDeviceAnswer(session: SiteSession, typedCode: string): Promise<GivenAnswer | undefined> {
  const userCode = parseUserCode(typedCode);
  if (!userCode) return undefined;
  const { rows } = await pool().query<GivenAnswer>({
    name: "device-answer-find",
    text: `SELECT payload ->> 'clientId' AS "clientId", account_id IS NOT NULL AS "isApproved" FROM oauth_artifact
      WHERE model = 'DeviceCode' AND user_code = $1 AND claimed_by_id = $2 AND ${IS_ANSWERED}`,
    values: [userCode, session.user.id],
  });
  return rows[0];
}

/** Afterwards the user can answer with another account (S65). */
export async function releaseDeviceRequest(session: SiteSession, typedCode: string): Promise<void> {
  const userCode = parseUserCode(typedCode);
  if (!userCode) return;
  await pool().query({
    name: "device-code-release",
    text: `UPDATE oauth_artifact SET claimed_by_id = NULL
      WHERE model = 'DeviceCode' AND user_code = $1 AND claimed_by_id = $2 AND NOT ${IS_ANSWERED}`,
    values: [userCode, session.user.id],
  });
}
