/** OWASP's parameters for argon2id: 19 MiB, two passes, one lane. If raised, passwords are hashed again at the next sign-in. */
export const ARGON2 = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
