/** What all tests encrypt under, and the template of their databases has its signing keys encrypted under. */
export const SECRET_KEY = "a secret key for tests, of no use anywhere else";
