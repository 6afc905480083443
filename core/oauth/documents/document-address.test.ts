import { afterEach, describe, expect, test } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import { from, signedInPerson } from "#core/accounts/testing/people.ts";
import { provideSettings } from "#core/env.ts";
import { createApp } from "../apps/create-app.ts";
import { explainDocumentAddress, isDocumentAddress } from "./document-address.ts";

const onLoopback = () => provideSettings({ ORIGIN: "http://localhost:3000" });
const onInternet = () => provideSettings({ ORIGIN: "https://keyhook.example.com" });
afterEach(onLoopback);

describe("S68 a document may be at", () => {
  test.each([
    "https://app.example.com/.well-known/oauth-cimd",
    "https://app.example.com/client.json",
    "https://app.example.com/a/",
    "https://app.example.com/a%20b/.x/..y/z.",
    "https://app.example.com/client?id=7",
    "https://xn--bcher-kva.example/client",
    "https://203.0.113.7/client",
    "https://my_app.example.com/client",
  ])("%s", (address) => {
    onInternet();
    expect(explainDocumentAddress(address)).toBeUndefined();
  });
});

describe("S68 no document is fetched from", () => {
  test.each([
    ["https://app.example.com", /needs a path/],
    ["https://app.example.com/", /needs a path/],
    ["https://app.example.com/?a=b", /needs a path/],
    ["https://app.example.com?a=b", /needs a path/],
    ["https://", /not a full URL/],
    ["https://app.example.com:99999/client", /not a full URL/],
    ["https://user@app.example.com/client", /username/],
    ["https://user:pw@app.example.com/client", /username/],
    ["https://app.example.com@evil.example/client", /username/],
    ["https://app.example.com/client#", /fragment/],
    ["https://app.example.com/client#x", /fragment/],
    ["https://app.example.com/a/../client", /segments/],
    ["https://app.example.com/./client", /segments/],
    ["https://app.example.com/..", /segments/],
    ["https://app.example.com/%2e%2E/client", /segments/],
    ["https://app.example.com/a/.%2e/client", /segments/],
    ["https://app.example.com/a/..%2fclient", /segments/],
    ["https://app.example.com/a%5c..%5cclient", /segments/],
    ["https://app.example.com/%ff", /segments/],
    ["https://app.example.com./client", /end in a dot/],
    ["https://app..example.com/client", /characters/],
    ["https://a!b$c.example.com/client", /characters/],
    ["https://a~b.example.com/client", /characters/],
    [`https://${"a".repeat(260)}.example.com/client`, /characters/],
    [`https://app.example.com/${"a".repeat(1000)}`, /1,000/],
    ["http://app.example.com/client", /https/],
    ["HTTP://app.example.com/client", /https/],
    ["javascript:alert(1)", /https/],
    ["a-client-id", /not a full URL/],
  ])("%s", (address, reason) => {
    onInternet();
    expect(explainDocumentAddress(address)).toMatch(reason);
  });
});

test.each([
  "https://keyhook.example.com/spaces/mallory/app/client.json",
  "https://keyhook.example.com/relay/mallory/client.json",
  "https://keyhook.example.com:8443/client.json",
])("S68 no document is on the service's own host: %s", (address) => {
  onInternet();
  expect(explainDocumentAddress(address)).toMatch(/host of this service/);
});

test("S68 on loopback, only the service's own port counts as its own host", () => {
  onLoopback();
  for (const host of ["localhost", "127.0.0.1", "[::1]"]) {
    expect(explainDocumentAddress(`https://${host}:3000/client.json`)).toMatch(/host of this service/);
    expect(explainDocumentAddress(`https://${host}:3001/client.json`)).toBeUndefined();
  }
});

describe("S69 another spelling of a URL is refused", () => {
  test.each([
    "https://app.example.com:443/client",
    "https://APP.example.com/client",
    "HTTPS://app.example.com/client",
    "https:/app.example.com/client",
    "https:app.example.com/client",
    "https://app.example.com\\client",
    "https://app.example.com/cli\tent",
    "https://app.example.com/client\n",
    " https://app.example.com/client",
    "https://app.example.com/a b",
    "https://bücher.example/client",
    "https://0x7f.0.0.1/client",
    "https://2130706433/client",
  ])("%j", (address) => {
    for (const be of [onInternet, onLoopback]) {
      be();
      expect(explainDocumentAddress(address)).toBeTruthy();
    }
  });
});

describe("S78 other ports and loopback hosts", () => {
  test.each([
    "https://app.example.com:8443/client",
    "https://localhost/client",
    "https://app.localhost/client",
    "https://127.0.0.1/client",
    "https://127.1.2.3/client",
    "https://[::1]/client",
  ])("%s is accepted only if the service is on loopback", (address) => {
    onInternet();
    expect(explainDocumentAddress(address)).toMatch(/443|public host/);
    onLoopback();
    expect(explainDocumentAddress(address)).toBeUndefined();
  });
});

test("S85 no generated client ID is the URL of a document", async () => {
  const person = await signedInPerson("maker");
  const input = { owner: { userId: person.id }, name: "Kite", redirectUris: ["https://kite.example/cb"], scopes: ["openid"] };
  for (let made = 0; made < 5; made++) {
    const { app } = await createApp(operatorCommand, input, from);
    expect(isDocumentAddress(app.clientId)).toBe(false);
  }
});
