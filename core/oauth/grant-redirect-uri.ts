/** The member of a Grant's payload that names the redirect URI its code went to (S86). */
export const GRANT_REDIRECT_URI = "redirectUri";
