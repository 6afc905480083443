/**
 * How somebody proved who they are, in the words that apps read as `amr` (RFC 8176 §2; `pop` of OpenID Connect EAP): a password,
 * a code used once (of an authenticator app, or a recovery code), a passkey; `mfa` where it was two things together.
 */
export type AuthenticationMethod = "pwd" | "otp" | "pop" | "mfa";
