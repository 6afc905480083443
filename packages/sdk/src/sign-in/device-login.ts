import { z } from "zod";
import { ApiError } from "../client/api-error.ts";
import { sleep } from "../client/retry.ts";
import { spaced } from "./create-login.ts";
import { discover } from "./discover.ts";
import { type IdTokenClaims, verifyIdToken } from "./id-token.ts";
import { SignInError } from "./sign-in-error.ts";
import { type AppOptions, postForm, requestTokens, type Tokens } from "./tokens.ts";

/** What the person is to be shown. */
export type DeviceCode = {
  /** `ABCD-EFGH`, to type in at `verificationUri`. */
  userCode: string;
  verificationUri: string;
  /** The same with the code in it: to open, or to draw as a QR code. The person compares the code. */
  verificationUriComplete: string;
  /** ISO 8601 in UTC. */
  expiresAt: string;
};

export type DevicePoll = {
  /** From 1. */
  number: number;
  /** `slow_down` and `unreachable` make the next wait longer. */
  answer: "authorization_pending" | "slow_down" | "unreachable";
  /** Until the next one. */
  intervalSeconds: number;
  /** Until the code runs out. */
  leftSeconds: number;
};

export type DeviceLoginOptions = AppOptions & {
  scope?: string | readonly string[] | undefined;
  orgIds?: string | readonly string[] | undefined;
  /** Shows the code; waited for before the first poll. */
  onCode: (code: DeviceCode) => void | Promise<void>;
  /** After each poll that was not the last. */
  onPoll?: ((poll: DevicePoll) => void) | undefined;
  /** In place of a timer between polls. */
  wait?: ((seconds: number, signal?: AbortSignal) => Promise<void>) | undefined;
};

const answerSchema = z.object({
  device_code: z.string().min(1),
  user_code: z.string().min(1),
  verification_uri: z.url({ protocol: /^https?$/ }),
  verification_uri_complete: z.url({ protocol: /^https?$/ }).optional(),
  expires_in: z.number().positive().default(900),
  interval: z.number().nonnegative().default(5),
});

/** A poll that never arrived is tried again, less often each time, but not less often than this. */
const INTERVAL_MAX_SECONDS = 60;

/**
 * Signs in on a machine without a browser: shows a code, and waits until the person has entered it elsewhere.
 * @throws SignInError `access_denied` where the person refused, `expired_token` where nobody came, and what else the service says; what
 *   `signal` was aborted with
 * @see https://www.rfc-editor.org/rfc/rfc8628
 */
export async function deviceLogin(options: DeviceLoginOptions): Promise<Tokens & { claims?: IdTokenClaims }> {
  const { scope, orgIds, onCode, onPoll, signal, clientId } = options;
  const wait = options.wait ?? ((seconds: number) => sleep(seconds * 1000, signal));
  const { device_authorization_endpoint } = await discover(options);
  if (!device_authorization_endpoint) {
    throw new SignInError("The service offers no sign-in by code.", { code: "unsupported_grant_type" });
  }
  const form = { scope: scope && spaced(scope), orgIds: orgIds && [orgIds].flat().join(",") };
  const asked = await postForm(device_authorization_endpoint, { ...options, clientId }, form, answerSchema);
  const expiresAt = Date.now() + asked.expires_in * 1000;
  await onCode({
    userCode: asked.user_code,
    verificationUri: asked.verification_uri,
    verificationUriComplete: asked.verification_uri_complete ?? asked.verification_uri,
    expiresAt: new Date(expiresAt).toISOString(),
  });

  let interval = asked.interval;
  for (let number = 1; ; number += 1) {
    await wait(interval, signal);
    if (signal?.aborted) throw signal.reason;
    if (Date.now() >= expiresAt) throw expired();
    const answer = await poll(options, asked.device_code);
    if (typeof answer === "object") {
      if (answer.idToken === undefined) return answer;
      return { ...answer, claims: await verifyIdToken({ ...options, idToken: answer.idToken, accessToken: answer.accessToken }) };
    }
    // RFC 8628 §3.5: five seconds more for good, and after a time-out ever less often.
    if (answer === "slow_down") interval += 5;
    if (answer === "unreachable") interval = Math.min(INTERVAL_MAX_SECONDS, Math.max(1, interval * 2));
    onPoll?.({
      number,
      answer,
      intervalSeconds: interval,
      leftSeconds: Math.max(0, Math.round((expiresAt - Date.now()) / 1000)),
    });
  }
}

async function poll(app: AppOptions, deviceCode: string): Promise<Tokens | DevicePoll["answer"]> {
  try {
    return await requestTokens(app, { grant_type: "urn:ietf:params:oauth:grant-type:device_code", device_code: deviceCode });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.code === "authorization_pending" || error.code === "slow_down") return error.code;
    if (error.code === "expired_token") throw expired(error);
    if (error.code === "access_denied") {
      throw new SignInError("The sign-in was refused. Nothing was shared.", {
        status: error.status,
        code: error.code,
        cause: error,
      });
    }
    // Proxies answer in their own words while the service is away.
    if (error.status === 429) return "slow_down";
    if (error.status === 0 || error.status >= 500 || error.code === "unexpected_answer") return "unreachable";
    throw error;
  }
}

const expired = (cause?: ApiError): SignInError =>
  new SignInError("The code has run out before anybody entered it. Sign in again to get a new one.", {
    status: cause?.status ?? 0,
    code: "expired_token",
    cause,
  });
