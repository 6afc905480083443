import { SITE_SESSION_ABSOLUTE_SECONDS } from "#core/accounts/sessions/start-site-session.ts";

/* Lifetimes in seconds, as listed in docs/specification/errors-and-limits.md#lifetimes. Limits that an RFC sets are beside their use. */
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** ASVS 10.4 L3: a code lives at most one minute (S21). */
export const AUTHORIZATION_CODE_SECONDS = MINUTE;
/** 8 hours unless the app is configured otherwise, at most 30 days. */
export const ACCESS_TOKEN_SECONDS = 8 * HOUR;
export const ACCESS_TOKEN_MAX_SECONDS = 30 * DAY;
export const ID_TOKEN_SECONDS = HOUR;
/** A refresh token expires if it is not used for this long, and in any case a year after the sign-in (S50, ASVS 10.4.8). */
export const REFRESH_TOKEN_IDLE_SECONDS = 60 * DAY;
export const REFRESH_TOKEN_ABSOLUTE_SECONDS = 365 * DAY;
/**
 * The lifetime of a Grant, for the engine: longer than that of every token issued under it. The row expires with the last of its tokens
 * (grant-store.ts).
 */
export const GRANT_SECONDS = REFRESH_TOKEN_ABSOLUTE_SECONDS + DAY;
/** Time to read the consent page, to sign in and to find the email with the link. */
export const INTERACTION_SECONDS = HOUR;
/** The engine's session ends with the user's site session, and must last until then: it lists the apps to notify. */
export const ENGINE_SESSION_SECONDS = SITE_SESSION_ABSOLUTE_SECONDS;
/** A session without an account contains only the question "Sign out?", for a user who has used no app in this browser (logout.ts). */
export const UNKNOWN_SESSION_SECONDS = 15 * MINUTE;
/** Time to fetch the phone, sign in and type the code (docs/specification/oauth.md#device-authorization). */
export const DEVICE_CODE_SECONDS = 15 * MINUTE;
/** The lifetime of a Grant without tokens. Its code or device code has expired by then. */
export const UNUSED_GRANT_SECONDS = DEVICE_CODE_SECONDS;
/** How far ahead the clock of a client that signs assertions may be (FAPI 2.0 Security Profile §5.3.2.1). */
export const CLOCK_TOLERANCE_SECONDS = 10;
/** How far ahead the clock of the sender of a DPoP proof may be, often a user's device. FAPI 2.0 allows no more. */
export const PROOF_AHEAD_SECONDS = 60;
/** RFC 8628 §3.5: the time between two polls of a device; one that polls faster must wait this much longer from then on. */
export const POLL_INTERVAL_SECONDS = 5;
