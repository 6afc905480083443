import { generateKeyPairSync, type KeyObject, X509Certificate } from "node:crypto";
import { calculateJwkThumbprint, type JWK } from "jose";
import { describe, expect, test } from "vitest";
import { hasPrivateKey, parsePastedKeys } from "./client-keys.ts";

const ec = () => generateKeyPairSync("ec", { namedCurve: "P-256" });
const rsa = (modulusLength = 2048) => generateKeyPairSync("rsa", { modulusLength });
const ed = () => generateKeyPairSync("ed25519");
const jwk = (key: KeyObject) => key.export({ format: "jwk" }) as JWK;
const pem = (key: KeyObject) => key.export({ format: "pem", type: key.type === "private" ? "pkcs8" : "spki" }) as string;

const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBiDCCAS6gAwIBAgITG2t/BKXcPh6yHqKQqYbTcGFPEzAKBggqhkjOPQQDAjAa
MRgwFgYDVQQDDA9hcHAuZXhhbXBsZS5jb20wHhcNMjYxMTIxMTUyODAyWhcNMzYx
MTE4MTUyODAyWjAaMRgwFgYDVQQDDA9hcHAuZXhhbXBsZS5jb20wWTATBgcqhkjO
PQIBBggqhkjOPQMBBwNCAAQsMINoTdKUIjZkQxhXSswOQ/pBwIpUXRdNGtQhZ/aA
MGQEDUgz08+MoYHGbXG3W3iqlDEA2QHcDJVnOh62mklao1MwUTAdBgNVHQ4EFgQU
CSQqVrFiCszHZmw+SMZ0nb/KkT0wHwYDVR0jBBgwFoAUCSQqVrFiCszHZmw+SMZ0
nb/KkT0wDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiBrZDWG/tP0
mTqfCK/1Qq4H3oHpKORHgrDTorrYhhYeEAIhANjsajquwNi0cRVErlBiECZqK5tC
FHoHL+5FPoY3XZHo
-----END CERTIFICATE-----`;

describe("public keys are accepted in the forms that developers have", () => {
  test("a key set, of which only the known members are kept", async () => {
    const [one, two] = [
      { ...jwk(ec().publicKey), kid: "2026-11", alg: "ES256", use: "sig" },
      { ...jwk(rsa().publicKey), kid: "old", alg: "PS256" },
    ];
    const parsed = await parsePastedKeys(JSON.stringify({ keys: [{ ...one, x5u: "https://a.example", iat: 1 }, two] }));
    expect(parsed).toEqual({ keys: [one, two] });
  });

  test.each([
    ["P-256", ec],
    ["RSA", rsa],
    ["Ed25519", ed],
  ])("a single %s key as JSON or PEM, which gets its thumbprint as ID", async (_kind, make) => {
    const { publicKey } = make();
    const kid = await calculateJwkThumbprint(jwk(publicKey));
    for (const text of [JSON.stringify(jwk(publicKey)), pem(publicKey)]) {
      expect(await parsePastedKeys(text)).toEqual({ keys: [{ ...jwk(publicKey), kid }] });
    }
  });

  test("several PEM blocks with text between them", async () => {
    const text = `# old\n${pem(rsa().publicKey)}\n# new\r\n${pem(ed().publicKey).replaceAll("\n", "\r\n")}`;
    expect((await parsePastedKeys(text)).keys.map(({ kty }) => kty)).toEqual(["RSA", "OKP"]);
  });

  test("a certificate", async () => {
    const { keys } = await parsePastedKeys(CERTIFICATE);
    expect(keys).toMatchObject([jwk(new X509Certificate(CERTIFICATE).publicKey)]);
  });
});

describe("S72 anything but a public key for signatures is refused, with advice", () => {
  const set = (...keys: unknown[]) => JSON.stringify({ keys });
  test.each<[string, string, RegExp]>([
    ["a private key as JSON", set(jwk(ec().privateKey)), /create a new key pair/i],
    ["a private RSA key", set(jwk(rsa().privateKey)), /create a new key pair/i],
    ["a private key as PEM", pem(ed().privateKey), /create a new key pair/i],
    [
      "an encrypted private key",
      "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAA==\n-----END ENCRYPTED PRIVATE KEY-----",
      /create a new key pair/i,
    ],
    ["a private key beside its public one", `${pem(rsa().publicKey)}${pem(rsa().privateKey)}`, /create a new key pair/i],
    ["a shared secret", set({ kty: "oct", k: "c2VjcmV0" }), /create a new key pair/i],
    ["an RSA key of 1,024 bits", set(jwk(rsa(1024).publicKey)), /2048 bits/],
    [
      "an RSA key of more than 4,096 bits",
      set({ ...jwk(rsa().publicKey), n: Buffer.alloc(513, 1).toString("base64url") }),
      /4096 bits/,
    ],
    ["an RSA key that is slow to verify with", set({ ...jwk(rsa().publicKey), e: "AQAAAAE" }), /65537/],
    ["another curve", set(jwk(generateKeyPairSync("ec", { namedCurve: "P-384" }).publicKey)), /Use RSA, P-256/],
    ["a key for key agreement", set(jwk(generateKeyPairSync("x25519").publicKey)), /Use RSA, P-256/],
    ["a kind unknown here", set({ kty: "AKP", alg: "ML-DSA-44", pub: "AA" }, jwk(ec().publicKey)), /Use RSA, P-256/],
    ["a key that encrypts", set({ ...jwk(rsa().publicKey), kid: "e", use: "enc" }, jwk(ec().publicKey)), /use is not sig/],
    ["an alg that does not match it", set({ ...jwk(rsa().publicKey), alg: "ES256" }), /has an alg/],
    ["a shared-secret alg", set({ ...jwk(rsa().publicKey), alg: "HS256" }), /has an alg/],
    ["two of one kid", set({ ...jwk(ec().publicKey), kid: "k" }, { ...jwk(ec().publicKey), kid: "k" }), /same kid/],
    ["a point that is on no curve", set({ kty: "EC", crv: "P-256", x: "AA", y: "AA" }), /is damaged/],
    ["too many", set(...Array(21).fill(jwk(ec().publicKey))), /at most 20/],
    ["an empty set", set(), /list of "keys"/],
    ["a list", `[${JSON.stringify(jwk(ec().publicKey))}]`, /list of "keys"/],
    ["null", "null", /list of "keys"/],
    ["a number", "7", /list of "keys"/],
    ["a set of text", set("key"), /RFC 7517/],
    ["half of a PEM", "-----BEGIN PUBLIC KEY-----\nMCow", /complete public keys/],
    ["a PEM of nothing", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----", /complete public keys/],
    ["prose", "my key", /neither JSON nor PEM/],
    ["a book", "x".repeat(40_000), /only the public keys/],
  ])("%s", async (_what, text, message) => {
    await expect(parsePastedKeys(text)).rejects.toMatchObject({
      code: "invalid_request",
      field: "jwks",
      message: expect.stringMatching(message),
    });
  });

  test("a private key is recognized in JSON with any white space", () => {
    expect(hasPrivateKey('{"kty":"EC", "d" :\n "x"}')).toBe(true);
    expect(hasPrivateKey(JSON.stringify(jwk(ed().publicKey)))).toBe(false);
    expect(hasPrivateKey(pem(rsa().publicKey))).toBe(false);
  });
});
