import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { provideSettings } from "../env.ts";
import { keptSecret } from "./kept-secret.ts";
import { derivedKey, seal, unseal } from "./seal.ts";
import { hashToken, isEqualInConstantTime, newToken } from "./token.ts";

const SECRET_KEY = "a secret key for tests, of no use anywhere else";
beforeEach(() => void provideSettings({ SECRET_KEY }));

describe("S130 a sealed value", () => {
  // Computed by Python's cryptography.
  const key = "f355569a8713a8cfc1fcec9d361eb54ae606a901955ad0b3faee39e35765371d";
  const sealed = Buffer.from("000102030405060708090a0bd64a532fe8b39b72cb0dd51bcd97f6d15b06b6fb0f1d4f0e1b4e803c71ef1e", "hex");

  test("is AES-256-GCM under a key of HKDF-SHA256: nonce, ciphertext, tag", () => {
    expect(derivedKey("webhook secret").toString("hex")).toBe(key);
    expect(unseal("webhook secret", sealed)).toBe("whsec_Ünïcode");
  });

  test("is 28 bytes longer than its text: a nonce of 12 and a full tag of 16", () => {
    expect(seal("totp", "12345")).toHaveLength(12 + 5 + 16);
    expect(unseal("totp", seal("totp", ""))).toBe("");
  });

  test("differs each time, because a nonce used twice would reveal the key stream", () => {
    const nonces = Array.from({ length: 100 }, () => Buffer.from(seal("totp", "text")).subarray(0, 12).toString("hex"));
    expect(new Set(nonces).size).toBe(100);
  });

  test.each(Array.from({ length: sealed.length }, (_, at) => at))("cannot be unsealed with byte %d changed", (at) => {
    const changed = Uint8Array.from(sealed);
    changed[at] = (changed[at] as number) ^ 1;
    expect(() => unseal("webhook secret", changed)).toThrow();
  });

  test.each([0, 16, 27, 28, sealed.length - 1])("cannot be unsealed when it is cut to %d bytes", (length) => {
    expect(() => unseal("webhook secret", sealed.subarray(0, length))).toThrow();
  });

  test.each([4, 8, 12, 15])("is refused with a tag of only %d bytes, which Node accepts by default", (length) => {
    expect(() => unseal("webhook secret", sealed.subarray(0, length))).toThrow("Invalid authentication tag length");
  });

  test("can be unsealed only for its purpose", () => {
    expect(() => unseal("job secrets", sealed)).toThrow();
  });

  test("can be unsealed only with its SECRET_KEY", () => {
    provideSettings({ SECRET_KEY: `${SECRET_KEY}!` });
    expect(() => unseal("webhook secret", sealed)).toThrow();
    provideSettings({ SECRET_KEY });
    expect(unseal("webhook secret", sealed)).toBe("whsec_Ünïcode");
  });
});

describe("a token", () => {
  test("S55 has 256 random bits after its prefix, in the alphabet of base64url", () => {
    const tokens = Array.from({ length: 100 }, () => newToken("khp_"));
    for (const token of tokens) expect(token).toMatch(/^khp_[\w-]{43}$/);
    expect(new Set(tokens).size).toBe(100);
    expect(newToken()).toMatch(/^[\w-]{43}$/);
  });

  test("is stored as its SHA-256", () => {
    // FIPS 180-2, B.1.
    expect(Buffer.from(hashToken("abc"), "base64url").toString("hex")).toBe(
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    );
  });

  test.each([
    ["", "", true],
    ["secret", "secret", true],
    ["secret", "Secret", false],
    ["secret", "secret ", false],
    ["secret", "", false],
    ["é", "e\u0301", false],
  ])("S41 is compared whole, whatever the lengths: %j and %j", (a, b, isEqual) => {
    expect(isEqualInConstantTime(a, b)).toBe(isEqual);
    expect(isEqualInConstantTime(b, a)).toBe(isEqual);
  });
});

describe("a secret kept in a file", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "keyhook-secret-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const modeOf = (path: string) => statSync(path).mode & 0o777;

  test("is 384 random bits, created once, readable only by its owner", () => {
    const path = join(folder, "secret");
    const secret = keptSecret(path);
    expect(secret).toMatch(/^[\w-]{64}$/);
    expect(modeOf(path)).toBe(0o600);
    expect(keptSecret(path)).toBe(secret);
    expect(keptSecret(join(folder, "another"))).not.toBe(secret);
  });

  test("becomes private again if a copy has widened the mode of its file", () => {
    const path = join(folder, "secret");
    const secret = keptSecret(path);
    chmodSync(path, 0o644);
    expect(keptSecret(path)).toBe(secret);
    expect(modeOf(path)).toBe(0o600);
  });

  test.each(["", "\n", "x".repeat(31)])("is never taken from a damaged file: %j", (content) => {
    const path = join(folder, "secret");
    writeFileSync(path, content);
    expect(() => keptSecret(path)).toThrow(`${path} is damaged and contains no secret. Restore the file from a copy of your own`);
  });

  test("may be chosen by the operator if it has at least 32 characters", () => {
    const path = join(folder, "secret");
    writeFileSync(path, `${"x".repeat(32)} \n`);
    expect(keptSecret(path)).toBe("x".repeat(32));
  });

  test("is not created if its folder does not exist", () => {
    expect(() => keptSecret(join(folder, "missing", "secret"))).toThrow("ENOENT");
  });
});
