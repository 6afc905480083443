/** The member of a Grant's payload with the redirect URI to which its code was sent (S86). */
export const GRANT_REDIRECT_URI = "redirectUri";
