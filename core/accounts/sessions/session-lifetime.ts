/** An unused site session ends after 14 days (S112). */
export const SITE_SESSION_INACTIVITY_SECONDS = 14 * 24 * 60 * 60;

/** A site session ends 90 days after sign-in, however much it is used (S112). */
export const SITE_SESSION_ABSOLUTE_SECONDS = 90 * 24 * 60 * 60;

/** The precision of `lastSeenAt`: at most one write a minute for each session, not one for each page. */
export const LAST_SEEN_RESOLUTION_SECONDS = 60;
