import { describe, expect, test } from "vitest";
import { explainRedirectUri, explainRedirectUris, isRedirectUriAllowed, splitRedirectUris } from "./redirect-uri.ts";

const ownOrigin = "https://keyhook.example.com";

describe("a redirect URI may be", () => {
  test.each([
    "https://app.example.com/callback",
    "https://app.example.com",
    "https://app.example.com:8443/cb?tenant=a&mail=x@y",
    "https://xn--bcher-kva.example/cb",
    "https://203.0.113.7/cb",
    "http://localhost/cb",
    "http://localhost:5173/cb?x=1",
    "http://127.0.0.1:43210/",
    "http://[::1]:9/cb",
    "com.example.app:/callback",
    "cursor://anysphere.cursor-mcp/oauth/callback",
    "vscode://publisher.extension/did-authenticate?windowId=1",
  ])("%s", (uri) => {
    expect(explainRedirectUri(uri, { ownOrigin })).toBeUndefined();
  });
});

describe("S5 schemes that run code, read files or imitate web addresses are refused at registration and at use", () => {
  test.each([
    "javascript:alert(1)",
    "javascript://app.example.com/%0aalert(1)",
    "JavaScript:/alert(1)",
    "data:text/html,x",
    "data:/text/html,x",
    "vbscript:/msgbox",
    "file:///etc/passwd",
    "blob:https://app.example.com/1",
    "about:/blank",
    "filesystem:https://app.example.com/x",
    "view-source:/x",
    "mailto:/a",
    "intent:/scan",
    "ms-msdt:/id",
    "search-ms:/query",
    "httpx://app.example.com/cb",
    "xhttps://app.example.com/cb",
    "hxxps://app.example.com/cb",
    "shttp://app.example.com/cb",
    "ws://app.example.com/cb",
    "ftp://app.example.com/cb",
  ])("%s", (uri) => {
    expect(explainRedirectUri(uri)).toBeTruthy();
    expect(isRedirectUriAllowed([uri], uri)).toBe(false);
  });
});

describe("S6 plain http is refused off this machine", () => {
  test.each([
    "http://app.example.com/cb",
    "http://localhost.example.com/cb",
    "http://127.0.0.1.example.com/cb",
    "http://127.0.0.2/cb",
    "http://127.1/cb",
    "http://2130706433/cb",
    "http://0x7f.0.0.1/cb",
    "http://0.0.0.0/cb",
    "http://[::ffff:127.0.0.1]/cb",
    "http://localhost./cb",
    "http://LOCALHOST/cb",
    "http://localhost@app.example.com/cb",
    "http://192.168.1.4/cb",
  ])("%s", (uri) => {
    expect(explainRedirectUri(uri)).toMatch(/https|username/);
  });
});

describe("S20 a URL of the service itself is refused", () => {
  test.each([
    "https://keyhook.example.com/login",
    "https://KEYHOOK.example.com/login",
    "https://keyhook.example.com:8443/",
    "https://keyhook.example.com./login",
    "https://keyhook.example.com",
  ])("%s", (uri) => {
    expect(explainRedirectUri(uri, { ownOrigin })).toMatch(/of this service/);
  });

  test("every name of this machine is refused, but only on the service's port", () => {
    const local = { ownOrigin: "http://localhost:3000" };
    for (const host of ["localhost", "127.0.0.1", "[::1]"]) {
      expect(explainRedirectUri(`http://${host}:3000/cb`, local)).toMatch(/of this service/);
      expect(explainRedirectUri(`http://${host}:3001/cb`, local)).toBeUndefined();
    }
  });

  test("a registered loopback URL, which matches any port, is refused with the service's port", () => {
    const local = { ownOrigin: "http://localhost:3000" };
    expect(isRedirectUriAllowed(["http://localhost/login"], "http://localhost:3001/login", local)).toBe(true);
    expect(isRedirectUriAllowed(["http://localhost/login"], "http://localhost:3000/login", local)).toBe(false);
  });

  test("a subdomain is allowed, because it is another site", () => {
    expect(explainRedirectUri("https://apps.keyhook.example.com/cb", { ownOrigin })).toBeUndefined();
  });
});

describe("an invalid URL is refused with advice", () => {
  test.each([
    ["", /Enter/],
    ["app.example.com/cb", /scheme/],
    ["//app.example.com/cb", /scheme/],
    ["/cb", /scheme/],
    ["https:app.example.com/cb", /full URL/],
    ["https:/app.example.com/cb", /full URL/],
    ["https:///app.example.com/cb", /full URL/],
    ["https://?x", /full URL/],
    ["https://app.example.com:99999/cb", /valid port/],
    ["HTTPS://app.example.com/cb", /lower case: https:/],
    ["https://app.example.com/cb#part", /fragment/],
    ["https://app.example.com/cb#", /fragment/],
    ["https://user:pw@app.example.com/cb", /username/],
    ["https://app.example.com@evil.example/cb", /username/],
    ["https://*.example.com/cb", /Wildcards/],
    ["https://app.example.com/*", /Wildcards/],
    ["https://app.example.com\\@evil.example/cb", /Percent-encode/],
    ["https://app.example.com/c b", /ASCII/],
    [" https://app.example.com/cb", /ASCII/],
    ["https://app.example.com/cb\n", /ASCII/],
    ["https://app.example.com/cb\0", /ASCII/],
    ["java\tscript:alert(1)", /ASCII/],
    ["https://bücher.example/cb", /xn--/],
    ["https://аpp.example.com/cb", /xn--/],
    [`https://app.example.com/${"a".repeat(2000)}`, /2,000/],
    ["myapp:", /slash/],
    ["myapp:callback", /slash/],
    ["myapp://user@host/cb", /username/],
  ])("%j", (uri, reason) => {
    expect(explainRedirectUri(uri)).toMatch(reason);
  });
});

describe("S2 a requested redirect URI must be a registered one, byte for byte", () => {
  const registered = ["https://app.example.com/callback?tenant=a", "com.example.app:/cb", "https://127.0.0.1/cb"];

  test.each(registered)("%s itself is allowed", (uri) => {
    expect(isRedirectUriAllowed(registered, uri)).toBe(true);
  });

  test.each([
    "https://app.example.com/callback",
    "https://app.example.com/callback?tenant=a&x=1",
    "https://app.example.com/callback/?tenant=a",
    "https://app.example.com/Callback?tenant=a",
    "https://app.example.com/%63allback?tenant=a",
    "https://app.example.com:443/callback?tenant=a",
    "https://sub.app.example.com/callback?tenant=a",
    "https://app.example.com/x/../callback?tenant=a",
    "https://u@app.example.com/callback?tenant=a",
    "https://app.example.com/callback?tenant=a#x",
    "http://app.example.com/callback?tenant=a",
    "com.example.app:/cb/",
    "com.example.app://cb",
    "https://127.0.0.1:8443/cb",
  ])("%s is not allowed", (uri) => {
    expect(isRedirectUriAllowed(registered, uri)).toBe(false);
  });
});

describe("S4 a loopback http address matches on any port", () => {
  const registered = ["http://127.0.0.1/cb?x=1", "http://[::1]:7000/cb"];

  test.each([
    "http://127.0.0.1/cb?x=1",
    "http://127.0.0.1:1/cb?x=1",
    "http://127.0.0.1:65535/cb?x=1",
    "http://[::1]/cb",
    "http://[::1]:51004/cb",
  ])("%s matches", (uri) => {
    expect(isRedirectUriAllowed(registered, uri)).toBe(true);
  });

  test.each([
    "http://localhost:51004/cb?x=1",
    "http://[::1]:51004/cb?x=1",
    "http://127.0.0.1:51004/cb",
    "http://127.0.0.1:51004/cb?x=2",
    "http://127.0.0.1:51004/other?x=1",
    "http://127.0.0.1:70000/cb?x=1",
    "http://127.0.0.1:/cb?x=1",
    "http://127.0.0.1:80@evil.example/cb?x=1",
    "http://127.0.0.1:51004.evil.example/cb?x=1",
    "https://127.0.0.1:51004/cb?x=1",
  ])("%s does not match", (uri) => {
    expect(isRedirectUriAllowed(registered, uri)).toBe(false);
  });
});

test("a list has a maximum length, and the error names its first invalid URI", () => {
  expect(explainRedirectUris(["https://a.example/", "https://b.example/#x"])).toMatch(
    /^https:\/\/b\.example\/#x: Remove the fragment/,
  );
  const many = Array.from({ length: 51 }, (_, at) => `https://a.example/${at}`);
  expect(explainRedirectUris(many)).toMatch(/50/);
  expect(explainRedirectUris(many.slice(1))).toBeUndefined();
  expect(explainRedirectUris(["https://a.example/\u202e\0"])).not.toMatch(/[\0\u202e]/);
});

test("a text has one redirect URI on each line", () => {
  expect(splitRedirectUris(" https://a.example/ \r\n\n  \nhttps://b.example/\nhttps://a.example/")).toEqual([
    "https://a.example/",
    "https://b.example/",
  ]);
});
