import { testKinds, WATCHED_MAX_PER_WEBHOOK } from "@keyhook/sdk";
import { afterEach, describe, expect, test } from "vitest";
import { provideSettings } from "../../env.ts";
import { LONG_HOST, longestParsed } from "../../http/testing/long-host.ts";
import { newWebhookSecret, parseEvents, parseWatched, parseWebhookSecret, parseWebhookUrl } from "./parse-webhook.ts";

afterEach(() => void provideSettings({ OUTBOUND_ALLOW_CIDRS: "" }));

const refused = (field: string) => expect.objectContaining({ code: "invalid_request", field });

describe("the URL of a webhook", () => {
  test.each(["https://example.com/hooks?key=1", "http://example.com:8080/", "HTTPS://EXAMPLE.COM", "https://8.8.8.8/"])(
    "is kept as it was typed: %s",
    (url) => {
      expect(parseWebhookUrl(` ${url} `)).toBe(url);
    },
  );

  test.each([
    "",
    "   ",
    "example.com/hooks",
    "//example.com",
    "https:example.com",
    "https:///",
    "ftp://example.com/",
    "javascript://example.com/",
    "see https://example.com/",
    "https://exa mple.com/",
    "https://example.com/a\tb",
    "https://example.com/a\nb",
    "https://example.com/\u0085",
    "https://user:password@example.com/",
    "https://user@example.com/",
    "https://:password@example.com/",
    "https://.../",
  ])("is refused if nothing can be sent to it or a reader would see another URL: %j", (url) => {
    expect(() => parseWebhookUrl(url)).toThrow(refused("url"));
  });

  test.each([LONG_HOST.slice(0, 1_900), "鍵".repeat(300), "a".repeat(254)])(
    "S138 is refused if its host name is too long: %s",
    async (host) => {
      const parsed = await longestParsed(async () => {
        expect(() => parseWebhookUrl(`https://${host}/`)).toThrow("host name");
      });
      expect(parsed).toBeLessThan(1_000);
    },
  );

  test.each([
    "http://127.0.0.1/",
    "http://2130706433/",
    "http://[::1]/",
    "http://10.0.0.1/",
    "http://169.254.169.254/latest/meta-data",
    "http://[::ffff:10.0.0.1]/",
    "http://localhost/",
    "http://LOCALHOST./",
    "http://my.app.localhost:3000/",
  ])("S117 is refused at once if its host is not on the public internet: %s", (url) => {
    expect(() => parseWebhookUrl(url)).toThrow(refused("url"));
    expect(() => parseWebhookUrl(url)).toThrow("OUTBOUND_ALLOW_CIDRS");
  });

  test("S119 may be local if OUTBOUND_ALLOW_CIDRS contains the address", () => {
    provideSettings({ OUTBOUND_ALLOW_CIDRS: "127.0.0.0/8" });
    for (const url of ["http://127.0.0.1:3000/", "http://localhost:3000/"]) expect(parseWebhookUrl(url)).toBe(url);
    expect(() => parseWebhookUrl("http://10.0.0.1/")).toThrow(refused("url"));
    provideSettings({ OUTBOUND_ALLOW_CIDRS: "" });
    for (const url of ["http://localhost.example.com/", "http://mylocalhost/"]) expect(parseWebhookUrl(url)).toBe(url);
  });
});

describe("the secret of a webhook", () => {
  const ofBytes = (count: number) => `whsec_${Buffer.alloc(count, 1).toString("base64")}`;

  test.each(["x", "two words", "~!@#$%^&*()", "whsec", ofBytes(16), ofBytes(33)])("may be %j", (secret) => {
    expect(parseWebhookSecret(secret)).toBe(secret);
  });

  test("is absent if the text is empty", () => {
    expect(parseWebhookSecret("")).toBeNull();
  });

  test.each([" x", "x ", "é", "a\tb", "a\nb", "a\x7f", ofBytes(15), "whsec_", "whsec_not base64 at all!!", `${ofBytes(16)}=`])(
    "S123 is refused if a header would change it or libraries would reject it: %j",
    (secret) => {
      expect(() => parseWebhookSecret(secret)).toThrow(refused("secret"));
    },
  );

  test("that the service generates has 256 random bits and passes the check", () => {
    const [one, other] = [newWebhookSecret(), newWebhookSecret()];
    expect(one).not.toBe(other);
    expect(Buffer.from(one.slice("whsec_".length), "base64")).toHaveLength(32);
    expect(parseWebhookSecret(one)).toBe(one);
  });
});

test("domains are stored once each in a fixed order, or all if none is given", () => {
  const domainsOf = (domains: string[]) => parseEvents(domains).domains;
  expect(parseEvents()).toEqual({ domains: ["repo", "discussion"], events: [] });
  expect(domainsOf(["discussion"])).toEqual(["discussion"]);
  expect(domainsOf(["discussion", "repo", "repo"])).toEqual(["repo", "discussion"]);
  for (const bad of [["push"], ["repo", ""], ["REPO"]]) expect(() => parseEvents(bad)).toThrow(refused("domains"));
});

test("events are stored unless they are all events of their domains", () => {
  const ofDiscussions = testKinds.filter((kind) => kind.startsWith("discussion"));
  expect(parseEvents([], ["repo.move", "repo.create", "repo.move"])).toEqual({
    domains: ["repo"],
    events: ["repo.create", "repo.move"],
  });
  expect(parseEvents([], ofDiscussions)).toEqual({ domains: ["discussion"], events: [] });
  expect(parseEvents([], testKinds)).toEqual({ domains: ["repo", "discussion"], events: [] });
  expect(parseEvents(["repo", "discussion"], ["repo.move"])).toEqual({ domains: ["repo"], events: ["repo.move"] });
  for (const [domains, kind] of [
    [["discussion"], "repo.move"],
    [[], "repo.push"],
    [[], ""],
  ] as const)
    expect(() => parseEvents(domains, [kind])).toThrow(refused("events"));
});

test("watched items are counted before they are looked up, and each is watched once", () => {
  const many = (count: number) => Array.from({ length: count }, (_, at) => ({ type: "user" as const, name: `u${at}` }));
  expect(parseWatched(many(WATCHED_MAX_PER_WEBHOOK))).toHaveLength(WATCHED_MAX_PER_WEBHOOK);
  expect(() => parseWatched(many(WATCHED_MAX_PER_WEBHOOK + 1))).toThrow(refused("watched"));
  expect(() => parseWatched([{ type: "everything" as "user", name: "ada" }])).toThrow(refused("watched"));
  const twice = parseWatched([
    { type: "user", name: "Ada" },
    { type: "user", name: " ada " },
    { type: "org", name: "ada" },
  ]);
  expect(twice).toEqual([
    { type: "user", name: "ada" },
    { type: "org", name: "ada" },
  ]);
});
