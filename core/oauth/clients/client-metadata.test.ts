import { generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import { LONG_HOST, longestParsed } from "#core/http/testing/long-host.ts";
import { parseClientMetadata } from "./client-metadata.ts";

const parse = (input: unknown, authMethods = ["none", "private_key_jwt"]) => parseClientMetadata(input, { authMethods });

const refusal = (input: unknown) => {
  try {
    return { kept: parse(input) };
  } catch (error) {
    const { code, field, message } = error as { code: string; field?: string; message: string };
    return { code, field, message };
  }
};

const jwkOf = (kind: "public" | "private", type: "rsa" | "ec" | "ed25519" = "ec", modulusLength = 2048) => {
  const { publicKey, privateKey } =
    type === "rsa"
      ? generateKeyPairSync("rsa", { modulusLength })
      : type === "ec"
        ? generateKeyPairSync("ec", { namedCurve: "P-256" })
        : generateKeyPairSync("ed25519");
  return (kind === "public" ? publicKey : privateKey).export({ format: "jwk" });
};

describe("client metadata (RFC 7591)", () => {
  test("members that this service uses are kept in its own order", () => {
    expect(
      parse({
        client_name: "  Kite\u202e  Runner ",
        redirect_uris: ["https://kite.example/cb", "http://127.0.0.1/cb", "com.example.kite:/cb", "https://kite.example/cb"],
        post_logout_redirect_uris: ["https://kite.example/bye"],
        token_endpoint_auth_method: "none",
        grant_types: ["urn:ietf:params:oauth:grant-type:device_code", "authorization_code", "client_credentials", "implicit"],
        response_types: ["code", "token"],
        scope: "profile openid made-up offline_access",
        client_uri: "https://kite.example",
        logo_uri: "https://kite.example/logo.png",
        tos_uri: "https://kite.example/tos",
        policy_uri: "https://kite.example/policy",
        id_token_signed_response_alg: "ES256",
        require_pushed_authorization_requests: true,
        dpop_bound_access_tokens: false,
      }),
    ).toEqual({
      client_name: "Kite Runner",
      redirect_uris: ["https://kite.example/cb", "http://127.0.0.1/cb", "com.example.kite:/cb"],
      post_logout_redirect_uris: ["https://kite.example/bye"],
      token_endpoint_auth_method: "none",
      grant_types: ["authorization_code", "urn:ietf:params:oauth:grant-type:device_code"],
      response_types: ["code"],
      scope: "openid profile offline_access",
      client_uri: "https://kite.example/",
      logo_uri: "https://kite.example/logo.png",
      tos_uri: "https://kite.example/tos",
      policy_uri: "https://kite.example/policy",
      id_token_signed_response_alg: "ES256",
      require_pushed_authorization_requests: true,
      dpop_bound_access_tokens: false,
    });
  });

  test("S84 unknown fields, the service's own fields, and empty values are ignored", () => {
    expect(
      parse({
        client_name: "Kite",
        client_uri: "",
        logo_uri: null,
        scope: "made-up",
        contacts: "not even a list",
        application_type: "native",
        verified: true,
        keyhook: { source: "app", isPkceRequired: false },
        is_first_party: true,
        constructor: "x",
        ["__proto__"]: { polluted: true },
      }),
    ).toEqual({ client_name: "Kite" });
  });

  test("the member `scopes` of HuggingChat counts as `scope` (docs/specification/oauth.md#client-id-metadata-documents)", () => {
    expect(parse({ scopes: "openid profile read-mcp inference-api" })).toEqual({ scope: "openid profile inference-api" });
    expect(parse({ scopes: "openid", scope: "profile" })).toEqual({ scope: "profile" });
    expect(parse({ scopes: ["openid"] })).toEqual({});
  });

  test.each<[string, unknown, RegExp]>([
    ["client_name", "Keyhook", /cannot confuse with Keyhook/],
    ["client_name", "Кeyh00k login", /cannot confuse with Keyhook/],
    ["client_name", "x".repeat(61), /at most 60/],
    ["client_name", "\u200b\u202e", /Fill this in/],
    ["client_name", "a\0b", /not valid text/],
    ["client_name", 7, /must be text/],
    ["redirect_uris", [], /at least one/],
    ["redirect_uris", "https://kite.example/cb", /list of strings/],
    ["redirect_uris", [1], /list of strings/],
    ["redirect_uris", ["http://kite.example/cb"], /^http:\/\/kite\.example\/cb: Use https/],
    ["redirect_uris", ["javascript:alert(1)"], /javascript/],
    ["redirect_uris", ["https://kite.example/cb", "https://kite.example/cb#x"], /fragment/],
    ["redirect_uris", ["http://localhost:3000/cb"], /of this service/],
    ["redirect_uris", Array.from({ length: 51 }, (_, at) => `https://kite.example/${at}`), /at most 50/],
    ["post_logout_redirect_uris", ["http://kite.example/"], /Use https/],
    ["token_endpoint_auth_method", "client_secret_basic", /none, private_key_jwt/],
    ["token_endpoint_auth_method", "tls_client_auth", /none, private_key_jwt/],
    ["token_endpoint_auth_method", "private_key_jwt", /public keys/],
    ["grant_types", ["client_credentials"], /None of these/],
    ["grant_types", "authorization_code", /list of strings/],
    ["response_types", ["token"], /None of these/],
    ["scope", ["openid"], /must be text/],
    ["client_uri", "http://kite.example/", /https/],
    ["client_uri", "javascript:alert(1)", /https/],
    ["logo_uri", "data:image/svg+xml,<svg/>", /https/],
    ["tos_uri", "https:kite.example", /https/],
    ["tos_uri", "https://user:pw@kite.example/", /https/],
    ["policy_uri", "https://kite.example/ a", /https/],
    ["policy_uri", `https://kite.example/${"a".repeat(2000)}`, /2,000/],
    ["policy_uri", "https://kite.example/\0", /not valid text/],
    ["client_uri", "https://localhost:3000/mallory", /of this service/],
    ["logo_uri", "https://127.0.0.1:3000/images/x", /of this service/],
    ["jwks_uri", "https://127.0.0.1:3000/spaces/mallory/app/keys", /of this service/],
    ["jwks_uri", "http://kite.example/keys", /https/],
    ["backchannel_logout_uri", "ftp://kite.example/", /https/],
    ["id_token_signed_response_alg", "none", /RS256 or ES256/],
    ["dpop_bound_access_tokens", "true", /true or false/],
  ])("%s %j is refused, and the error names the field", (field, value, message) => {
    expect(refusal({ [field]: value })).toMatchObject({
      code: "invalid_request",
      field: field === "token_endpoint_auth_method" && value === "private_key_jwt" ? "jwks" : field,
      message: expect.stringMatching(message),
    });
  });

  test.each([null, undefined, 7, "{}", [], true])("%j is not client metadata", (input) => {
    expect(refusal(input)).toMatchObject({ code: "invalid_request", field: undefined });
  });
});

describe("a client's keys", () => {
  test("are kept without unneeded members if they are public", () => {
    const keys = [jwkOf("public", "ec"), { ...jwkOf("public", "rsa"), kid: "one", use: "sig", x5u: "https://a.example" }];
    const { x5u: _, ...rsa } = keys[1] as Record<string, unknown>;
    const unknownKind = { kty: "AKP", alg: "ML-DSA-44", pub: "AA" };
    expect(parse({ token_endpoint_auth_method: "private_key_jwt", jwks: { keys: [...keys, unknownKind] } })).toEqual({
      token_endpoint_auth_method: "private_key_jwt",
      jwks: { keys: [keys[0], rsa] },
    });
    expect(parse({ jwks: { keys: [jwkOf("public", "ed25519")] } }).jwks?.keys).toHaveLength(1);
  });

  test.each<[string, unknown, RegExp]>([
    ["a private key", { keys: [jwkOf("private", "ec")] }, /no longer secret/],
    ["a private RSA key", { keys: [jwkOf("public"), jwkOf("private", "rsa")] }, /no longer secret/],
    ["a private Ed25519 key", { keys: [jwkOf("private", "ed25519")] }, /no longer secret/],
    ["a shared key", { keys: [{ kty: "oct", k: "c2VjcmV0" }] }, /no longer secret/],
    ["a private member under a kind unknown here", { keys: [{ kty: "AKP", priv: "AA" }] }, /no longer secret/],
    ["a weak key", { keys: [jwkOf("public", "rsa", 1024)] }, /2048 bits/],
    ["an invalid key", { keys: [{ kty: "EC", crv: "P-256", x: "AA", y: "AA" }] }, /is damaged/],
    ["a NUL in a kid", { keys: [{ ...jwkOf("public"), kid: "a\0" }] }, /is damaged/],
    ["keys that only encrypt", { keys: [{ ...jwkOf("public"), use: "enc" }] }, /no signing key/],
    ["an empty set", { keys: [] }, /no signing key/],
    ["a list", [jwkOf("public")], /RFC 7517/],
    ["text", "keys", /RFC 7517/],
    ["too many", { keys: Array(21).fill(jwkOf("public")) }, /at most 20/],
  ])("S72 %s is refused", (_, jwks, message) => {
    expect(refusal({ jwks })).toMatchObject({ field: "jwks", message: expect.stringMatching(message) });
  });

  test("are either in the metadata or at a URL", () => {
    const jwks = { keys: [jwkOf("public")] };
    expect(refusal({ jwks, jwks_uri: "https://kite.example/keys" })).toMatchObject({
      field: "jwks",
      message: expect.stringMatching(/not both/),
    });
    expect(parse({ token_endpoint_auth_method: "private_key_jwt", jwks_uri: "https://kite.example/keys" })).toEqual({
      token_endpoint_auth_method: "private_key_jwt",
      jwks_uri: "https://kite.example/keys",
    });
  });
});

test.each(["client_uri", "jwks_uri"])("S138 a long host name in %s is refused before it is parsed", async (member) => {
  const parsed = await longestParsed(async () => {
    expect(refusal({ [member]: `https://${LONG_HOST.slice(0, 1_900)}/` }).message).toContain("https://");
  });
  expect(parsed).toBeLessThan(1_000);
});
