import * as oauth from "oauth4webapi";
import { ApiError } from "../client/api-error.ts";
import { sleep } from "../client/reconnecting.ts";
import { type IdTokenClaims, verifyIdToken } from "./id-token.ts";
import { type AppOptions, connect } from "./service.ts";
import { orRefused, SignInError } from "./sign-in-error.ts";
import { definedOnly, requestTokens, scopeText, type Tokens } from "./tokens.ts";

/** The values to show to the person. @group Device sign-in */
export type DeviceCode = {
  /** The code to enter at `verificationUri`, such as `ABCD-EFGH`. */
  userCode: string;
  /** The URL at which to enter the code. */
  verificationUri: string;
  /** `verificationUri` with the code in the query, to open or to show as a QR code. The person still compares the code. */
  verificationUriComplete: string;
  /** When the code expires, in ISO 8601 and UTC. */
  expiresAt: string;
};

/** The result of a poll that has not ended the sign-in. @group Device sign-in */
export type DevicePoll = {
  /** The number of the poll; 1 for the first. */
  number: number;
  /** Nobody has answered yet; the polls came too fast; or the service could not be reached. In the last two cases the interval grows. */
  answer: "authorization_pending" | "slow_down" | "unreachable";
  /** Seconds until the next poll. */
  intervalSeconds: number;
  /** Seconds until the code expires. */
  leftSeconds: number;
};

/** Options of {@link deviceLogin}. @group Device sign-in */
export type DeviceLoginOptions = AppOptions & {
  /** Scopes, as a list or separated by spaces. Default: the scopes of the app. */
  scope?: string | readonly string[] | undefined;
  /** IDs of organizations to request. The person chooses which ones to grant. */
  orgIds?: string | readonly string[] | undefined;
  /** Shows the code. The first poll waits for it. */
  onCode: (code: DeviceCode) => void | Promise<void>;
  /** Called after each poll except the last. */
  onPoll?: ((poll: DevicePoll) => void) | undefined;
  /** Replaces the timer between polls. */
  wait?: ((seconds: number, signal?: AbortSignal) => Promise<void>) | undefined;
};

/** RFC 8628 §3.5 */
const INTERVAL_SECONDS = 5;
/** The interval in seconds doubles after each poll without a usable response, up to this maximum. */
const INTERVAL_MAX_SECONDS = 60;

/**
 * Signs in on a device without a browser: requests a code, passes it to `onCode`, which shows it, and polls until the person has answered
 * on another device. It polls as often as the service allows, and less often while the service cannot be reached.
 * @param options The app, the scopes, and `onCode`, which shows the code. `signal` cancels the sign-in.
 * @returns The tokens, and the claims of the ID token if the scope `openid` was granted. Next, store the tokens and give {@link keepTokens}
 *   to {@link createClient}.
 * @throws {@link SignInError} `access_denied`: the person refused; `expired_token`: the sign-in was not completed in time;
 *   `unauthorized_client`: the device flow of the app is off; `invalid_client`, `invalid_scope`: check the app; `invalid_id_token`: see
 *   {@link verifyIdToken}; `unsupported_grant_type`: the service has no device sign-in.
 * @throws {@link ApiError} `network`, `timeout` or `unexpected_answer`: there was no answer to the request for the code.
 * @see [RFC 8628 §3](https://www.rfc-editor.org/rfc/rfc8628#section-3)
 * @example
 * ```ts
 * const tokens = await deviceLogin({
 *   baseUrl: "https://hub.example.com",
 *   clientId: "…",
 *   scope: "openid webhooks",
 *   onCode: ({ verificationUri, userCode }) => console.log(`Open ${verificationUri} and enter ${userCode}`),
 * });
 * ```
 * @group Device sign-in
 */
export async function deviceLogin(options: DeviceLoginOptions): Promise<Tokens & { claims?: IdTokenClaims }> {
  const { onCode, onPoll, signal } = options;
  const wait = options.wait ?? ((seconds: number) => sleep(seconds * 1000, signal));
  const { deviceCode, shown, expiresAt, firstInterval } = await requestCode(options);
  await onCode({ ...shown, expiresAt: new Date(expiresAt).toISOString() });

  let interval = firstInterval;
  for (let number = 1; ; number += 1) {
    await wait(interval, signal);
    if (signal?.aborted) throw signal.reason;
    if (Date.now() >= expiresAt) throw expired();
    const answer = await poll(options, deviceCode);
    if (typeof answer === "object") {
      if (answer.idToken === undefined) return answer;
      return { ...answer, claims: await verifyIdToken({ ...options, idToken: answer.idToken, accessToken: answer.accessToken }) };
    }
    // RFC 8628 §3.5
    if (answer === "slow_down") interval += 5;
    if (answer === "unreachable") interval = Math.max(interval, Math.min(INTERVAL_MAX_SECONDS, Math.max(1, interval * 2)));
    onPoll?.({
      number,
      answer,
      intervalSeconds: interval,
      leftSeconds: Math.max(0, Math.round((expiresAt - Date.now()) / 1000)),
    });
  }
}

/** RFC 8628 §3.1 */
async function requestCode(options: DeviceLoginOptions) {
  const { scope, orgIds } = options;
  const { as, client, authentication, http } = await connect(options);
  if (!as.device_authorization_endpoint) {
    throw new SignInError("The service does not support device sign-in.", { code: "unsupported_grant_type" });
  }
  const parameters = definedOnly({ scope: scope && scopeText(scope), orgIds: orgIds && [orgIds].flat().join(",") });
  const response = await orRefused(oauth.deviceAuthorizationRequest(as, client, authentication, parameters, http));
  const answer = await orRefused(oauth.processDeviceAuthorizationResponse(as, client, response));
  const { verification_uri: verificationUri, verification_uri_complete: verificationUriComplete = verificationUri } = answer;
  return {
    deviceCode: answer.device_code,
    shown: {
      userCode: answer.user_code,
      verificationUri: webAddress(verificationUri),
      verificationUriComplete: webAddress(verificationUriComplete),
    },
    expiresAt: Date.now() + answer.expires_in * 1000,
    firstInterval: answer.interval ?? INTERVAL_SECONDS,
  };
}

/** Programs open these URLs. Another scheme would start another program instead of a browser, and a space would begin another argument. */
function webAddress(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return new URL(text).href;
  throw new ApiError("The service's verification URI is not a web URL.", {
    status: 200,
    code: "unexpected_answer",
  });
}

async function poll(app: AppOptions, deviceCode: string): Promise<Tokens | DevicePoll["answer"]> {
  try {
    return await requestTokens(app, ({ as, client, authentication, http }) =>
      oauth.deviceCodeGrantRequest(as, client, authentication, deviceCode, http),
    );
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
    // While the service cannot be reached, proxies send their own responses.
    if (error.status === 429) return "slow_down";
    if (error.code === "unexpected_answer") return "unreachable";
    // A `SignInError` without a status is a failed check, which is final.
    if (!(error instanceof SignInError) && (error.status === 0 || error.status >= 500)) return "unreachable";
    throw error;
  }
}

const expired = (cause?: ApiError): SignInError =>
  new SignInError("The code expired before the sign-in was completed. Sign in again to get a new one.", {
    status: cause?.status ?? 0,
    code: "expired_token",
    cause,
  });
