import { SITE_SESSION_ABSOLUTE_SECONDS } from "#core/accounts/sessions/session-lifetime.ts";

/** How long things live, in seconds. docs/specification/errors-and-limits.md#lifetimes lists them; limits of RFCs stand beside their use. */
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** ASVS 10.4 L3: a code lives at most one minute (S21). */
export const AUTHORIZATION_CODE_SECONDS = MINUTE;
/** 8 hours unless the app says otherwise, 30 days at most. */
export const ACCESS_TOKEN_SECONDS = 8 * HOUR;
export const ACCESS_TOKEN_MAX_SECONDS = 30 * DAY;
export const ID_TOKEN_SECONDS = HOUR;
/** A refresh token that is not used for this long dies; one that is used dies a year after the sign-in (S50, ASVS 10.4.8). */
export const REFRESH_TOKEN_IDLE_SECONDS = 60 * DAY;
export const REFRESH_TOKEN_ABSOLUTE_SECONDS = 365 * DAY;
/** For the engine; outlives every token issued under it. The row expires with the last of its tokens (grant-store.ts). */
export const GRANT_SECONDS = REFRESH_TOKEN_ABSOLUTE_SECONDS + DAY;
/** Time to read the consent page, to sign in and to find the mail with the link. */
export const INTERACTION_SECONDS = HOUR;
/**
 * The engine's own session. The person's site session ends it (site-session.ts), and must find it, however long ago it was last used:
 * it knows which apps are to be told.
 */
export const PROVIDER_SESSION_SECONDS = SITE_SESSION_ABSOLUTE_SECONDS;
/** One that knows no account keeps only the question "Sign out?" of somebody who has not used an app in this browser (logout.ts). */
export const UNKNOWN_SESSION_SECONDS = 15 * MINUTE;
/** Time to fetch the phone, sign in and type the code (docs/specification/oauth.md#device-authorization). */
export const DEVICE_CODE_SECONDS = 15 * MINUTE;
/** A Grant without tokens. Its code or device code has expired by then. */
export const UNUSED_GRANT_SECONDS = DEVICE_CODE_SECONDS;
/** RFC 8628 §3.5: between two polls of a device, and what one that polls faster has to wait longer from then on. */
export const POLL_INTERVAL_SECONDS = 5;
