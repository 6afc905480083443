import { generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import { DocumentError } from "./document-error.ts";
import { readDocument } from "./read-document.ts";

const ADDRESS = "https://app.example.com/.well-known/oauth-cimd";
const document = { client_id: ADDRESS, client_name: "Kite Runner", redirect_uris: ["https://app.example.com/cb"] };

const read = (text: string | Uint8Array) => readDocument(ADDRESS, Buffer.from(text));
const readWith = (changes: Record<string, unknown>) => read(JSON.stringify({ ...document, ...changes }));

function refusal(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof DocumentError && error.kind === "refused") return error.message;
    throw error;
  }
  return "nothing";
}

test("a document is read even with a byte order mark", () => {
  const { client_name, redirect_uris } = document;
  expect(readWith({})).toEqual({ client_name, redirect_uris });
  expect(read(`\u{feff}${JSON.stringify(document)}`)).toEqual({ client_name, redirect_uris });
  expect(readWith({ token_endpoint_auth_method: "none" })).toMatchObject({ token_endpoint_auth_method: "none" });
});

test.each([
  `${ADDRESS}/`,
  ADDRESS.replace("https://", "https://www."),
  ADDRESS.replace("app.example.com", "APP.example.com"),
  ADDRESS.replace("example.com", "example.com:443"),
  `${ADDRESS}?`,
  "",
  null,
  undefined,
  [ADDRESS],
])("S70 client_id %j differs from the document's URL", (client_id) => {
  expect(refusal(() => readWith({ client_id }))).toMatch(/^client_id: .*exactly the URL/);
});

test.each([
  ["client_name", undefined],
  ["client_name", ""],
  ["client_name", null],
  ["redirect_uris", undefined],
  ["redirect_uris", []],
  ["redirect_uris", null],
])("S71 %s is required, and %j is invalid", (field, value) => {
  expect(refusal(() => readWith({ [field]: value }))).toMatch(new RegExp(`^${field}: `));
});

test.each(["http://app.example.com/cb", "http://localhost.example.com/cb", "http://192.168.1.4/cb"])(
  "S6 %s is not a valid redirect URI of a document",
  (uri) => {
    expect(refusal(() => readWith({ redirect_uris: [uri] }))).toMatch(/^redirect_uris: .*Use https/);
  },
);

describe("S72 a document that everybody can read contains no secret", () => {
  test.each(["client_secret_basic", "client_secret_post", "client_secret_jwt", "tls_client_auth", "", "NONE"].filter(Boolean))(
    "token_endpoint_auth_method %s",
    (token_endpoint_auth_method) => {
      expect(refusal(() => readWith({ token_endpoint_auth_method }))).toMatch(
        /^token_endpoint_auth_method: .*none, private_key_jwt/,
      );
    },
  );

  test.each([
    ["client_secret", "s3cret"],
    ["client_secret", ""],
    ["client_secret_expires_at", 0],
  ])("%s %j", (field, value) => {
    expect(refusal(() => readWith({ [field]: value }))).toMatch(new RegExp(`^${field}: .*must not contain a secret`));
  });

  test("a private key", () => {
    const jwk = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ format: "jwk" });
    const jwks = { keys: [jwk] };
    expect(refusal(() => readWith({ token_endpoint_auth_method: "private_key_jwt", jwks }))).toMatch(/^jwks: .*no longer secret/);
    expect(refusal(() => readWith({ jwks }))).toMatch(/^jwks: .*no longer secret/);
  });
});

describe("text that is not a document", () => {
  test.each<[string, string | Uint8Array, RegExp]>([
    ["nothing", "", /valid JSON/],
    ["HTML", "<!doctype html><title>Welcome</title>", /valid JSON/],
    ["half a document", JSON.stringify(document).slice(0, -3), /valid JSON/],
    [
      "invalid UTF-8",
      Buffer.concat([Buffer.from('{"client_name":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]),
      /valid JSON/,
    ],
    ["UTF-16", Buffer.from(JSON.stringify(document), "utf16le"), /valid JSON/],
    ["null", "null", /JSON object/],
    ["a list", "[]", /JSON object/],
    ["text", '"text"', /JSON object/],
    ["a NUL byte", `${JSON.stringify(document)}\0`, /valid JSON/],
    ["an escaped NUL in the name", JSON.stringify({ ...document, client_name: "Kite\0" }), /^client_name: .*not valid text/],
    ["an escaped NUL in a URL", JSON.stringify({ ...document, logo_uri: "https://a.example/\0" }), /^logo_uri: /],
    ["half a surrogate pair", JSON.stringify(document).replace("Kite", "Kite\\ud800"), /^client_name: .*not valid text/],
  ])("%s", (_, text, reason) => {
    expect(refusal(() => read(text))).toMatch(reason);
  });

  test.each([
    `{"client_id":"https://evil.example/","client_id":${JSON.stringify(ADDRESS)},"client_name":"K","redirect_uris":["https://a.example/"]}`,
    JSON.stringify(document).replace('"client_name"', '"client\\u005fname":"Other","client_name"'),
    JSON.stringify({ ...document, jwks: { keys: [] } }).replace('"keys":[]', '"keys":[],"keys":[]'),
    JSON.stringify(document).replace("{", '{"__proto__":1,"__proto__":2,'),
  ])("a repeated name: %s", (text) => {
    expect(refusal(() => read(text))).toMatch(/occurs twice/);
  });

  test("a string that looks like a member name is not one", () => {
    expect(readWith({ description: '"client_id": "x", \\"a\\": "b"', client_uri: "https://a.example/%22x%22:" })).toMatchObject({
      client_name: "Kite Runner",
    });
  });

  test("values that are nested thousands deep cause no error", () => {
    const deep = `${"[".repeat(2_000)}${"]".repeat(2_000)}`;
    expect(read(JSON.stringify(document).replace("{", `{"x":${deep},`))).toMatchObject({ client_name: "Kite Runner" });
  });
});
