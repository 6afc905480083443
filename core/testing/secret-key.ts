/** The key of all tests, and of the signing keys in the template of their databases. */
export const SECRET_KEY = "a secret key for tests, of no use anywhere else";
