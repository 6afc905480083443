/**
 * argon2id with the parameters of the OWASP Password Storage Cheat Sheet: 19 MiB, two passes, one lane. Raise them here; each
 * password is hashed again when its owner next signs in.
 */
export const ARGON2 = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
