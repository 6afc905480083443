import { SITE_SESSION_ABSOLUTE_SECONDS } from "#core/accounts/sessions/start-site-session.ts";

/** See docs/specification/errors-and-limits.md#lifetimes. */
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The limit of ASVS 10.4 L3 (S21). */
export const AUTHORIZATION_CODE_SECONDS = MINUTE;
/** The default. Each app can be configured otherwise. */
export const ACCESS_TOKEN_SECONDS = 8 * HOUR;
export const ACCESS_TOKEN_MAX_SECONDS = 30 * DAY;
export const ID_TOKEN_SECONDS = HOUR;
/** A refresh token that is not used for this long expires (S50, ASVS 10.4.8). */
export const REFRESH_TOKEN_IDLE_SECONDS = 60 * DAY;
export const REFRESH_TOKEN_ABSOLUTE_SECONDS = 365 * DAY;
/** Longer than any token lives. The row itself expires with the last of its tokens (grant-store.ts). */
export const GRANT_SECONDS = REFRESH_TOKEN_ABSOLUTE_SECONDS + DAY;
/** Includes the time to sign in and to find the email with the link. */
export const INTERACTION_SECONDS = HOUR;
/** As long as the site session, because the engine's session lists the apps to notify of a logout. */
export const ENGINE_SESSION_SECONDS = SITE_SESSION_ABSOLUTE_SECONDS;
/** A session without an account contains only the question "Sign out?" (logout.ts). */
export const UNKNOWN_SESSION_SECONDS = 15 * MINUTE;
/** Includes the time to sign in on a phone (docs/specification/oauth.md#device-authorization). */
export const DEVICE_CODE_SECONDS = 15 * MINUTE;
export const UNUSED_GRANT_SECONDS = DEVICE_CODE_SECONDS;
/** How far ahead the clock of a client that signs assertions may be (FAPI 2.0 Security Profile §5.3.2.1). */
export const CLOCK_TOLERANCE_SECONDS = 10;
/** How far ahead the clock of the sender of a DPoP proof may be, often a user's device. This is the maximum of FAPI 2.0. */
export const PROOF_AHEAD_SECONDS = 60;
/** RFC 8628 §3.5. An early poll also lengthens the interval by this much. */
export const POLL_INTERVAL_SECONDS = 5;
