/**
 * How a user authenticated, in the terms that apps read as `amr` (RFC 8176 §2; `pop` of OpenID Connect EAP): a password, a code
 * used once (of an authenticator app, or a recovery code), a passkey; `mfa` if two were combined.
 */
export type AuthenticationMethod = "pwd" | "otp" | "pop" | "mfa";
