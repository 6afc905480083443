export const SECRET_KEY = "a secret key for tests, of no use anywhere else";
