import { describe, expect, test } from "vitest";
import { parseEmailAddress, readEmailAddress } from "./email-address.ts";
import { localPath } from "./local-path.ts";
import { parseWebsite } from "./parse-website.ts";
import { displayText, plainText } from "./plain-text.ts";

const refusedOn = (field: string) => expect.objectContaining({ code: "invalid_request", field });

describe("S51 plainText", () => {
  test.each(["\0", "a\0b", "\u{fffd}", "\ud800", "a\udfff"])("refuses %j with the field", (text) => {
    expect(() => plainText("note", text)).toThrow(refusedOn("note"));
  });

  test("accepts other text unchanged", () => {
    expect(plainText("note", " Grüße, 木村 👩‍🚀 \n")).toBe(" Grüße, 木村 👩‍🚀 \n");
  });

  test("refuses values that are too long or not text", () => {
    expect(() => plainText("note", "x".repeat(11), 10)).toThrow(refusedOn("note"));
    expect(() => plainText("note", new Blob(["x"]))).toThrow(refusedOn("note"));
  });
});

describe("S28 displayText", () => {
  const name = (value: string) => displayText("name", value, { maxCharacters: 20 });

  test.each([
    ["Ada\u202eecalevoL", "AdaecalevoL"],
    ["\u2066Ada\u2069", "Ada"],
    ["Ada\u0007\u001b[31m", "Ada[31m"],
    ["  Ada \t\n Lovelace ", "Ada Lovelace"],
    ["A \u200b B", "A B"],
    ["Ada\u2028Lovelace", "Ada Lovelace"],
    ["Zoe\u0308", "Zoë"],
    ["\u{e0041}Ada", "Ada"],
    ["👩‍🚀 Ada", "👩‍🚀 Ada"],
    ["نمی‌خواهم", "نمی‌خواهم"],
  ])("turns %j into %j", (value, shown) => {
    expect(name(value)).toBe(shown);
  });

  test.each(["", " \t", "\u200b", "\u3164", "\u2800", "\u200d\u200c", "\u00ad"])("treats %j as empty", (value) => {
    expect(() => name(value)).toThrow(refusedOn("name"));
    expect(displayText("name", value, { maxCharacters: 20, isRequired: false })).toBe("");
  });

  test("counts characters instead of code units and limits the length of its input", () => {
    expect(name("👩".repeat(20))).toBe("👩".repeat(20));
    expect(() => name("👩".repeat(21))).toThrow(refusedOn("name"));
    expect(() => name("\u200b".repeat(100_000))).toThrow(refusedOn("name"));
  });
});

describe("email addresses", () => {
  test.each([
    ["ada@example.com", "ada@example.com", "ada@example.com"],
    ["  Ada.Byron+x@Example.COM ", "Ada.Byron+x@example.com", "ada.byron+x@example.com"],
    ["a@bücher.example", "a@xn--bcher-kva.example", "a@xn--bcher-kva.example"],
    ["a@BU\u0308CHER.example", "a@xn--bcher-kva.example", "a@xn--bcher-kva.example"],
    ["o'brien@mail.example.co.uk", "o'brien@mail.example.co.uk", "o'brien@mail.example.co.uk"],
  ])("%s", (typed, address, canonical) => {
    expect(parseEmailAddress(typed)).toEqual({ address, canonical });
  });

  test("S91 addresses that differ in dots or tags are different addresses", () => {
    expect(parseEmailAddress("a.b@example.com").canonical).not.toBe(parseEmailAddress("ab@example.com").canonical);
    expect(parseEmailAddress("a+x@example.com").canonical).not.toBe(parseEmailAddress("a@example.com").canonical);
  });

  test("non-ASCII letters whose lower case is ASCII are refused before the @", () => {
    expect("\u212a".toLowerCase()).toBe("k");
    expect(readEmailAddress("mi\u212ae@example.com")).toBeUndefined();
  });

  test.each([
    "",
    "ada",
    "@example.com",
    "ada@",
    "ada@localhost",
    "ada@example",
    "ada@.com",
    "ada@example..com",
    "ada@-example.com",
    "ada@127.0.0.1",
    "ada@[127.0.0.1]",
    "ada @example.com",
    "ada@exam ple.com",
    ".ada@example.com",
    "ada.@example.com",
    "a..b@example.com",
    "a@b@example.com",
    "ada@example.com\nBcc: eve@example.com",
    "ada@example.com, eve@example.com",
    "<ada@example.com>",
    '"ada"@example.com',
    `${"x".repeat(65)}@example.com`,
    `a@${"x".repeat(250)}.com`,
    "ada\0@example.com",
    "ada@exam\0ple.com",
  ])("refuses %j", (typed) => {
    expect(() => parseEmailAddress(typed)).toThrow(refusedOn("email"));
  });
});

describe("parseWebsite", () => {
  test.each([
    ["https://ada.example", "https://ada.example/"],
    [" http://ada.example/about?x=1#y ", "http://ada.example/about?x=1#y"],
    ["", null],
    ["   ", null],
  ])("%j", (typed, website) => {
    expect(parseWebsite(typed)).toBe(website);
  });

  test.each([
    "javascript:alert(1)",
    "java\nscript:alert(1)",
    "data:text/html,x",
    "ftp://a.example",
    "//a.example",
    "ada.example",
    "https://",
    "https://bank.example@evil.example",
    "https://a.example/\0",
    `https://a.example/${"x".repeat(200)}`,
  ])("refuses %j", (typed) => {
    expect(() => parseWebsite(typed)).toThrow(refusedOn("website"));
  });
});

describe("localPath", () => {
  test.each(["/", "/settings/profile?tab=1#x", "/interaction/abc"])("accepts %s", (path) => {
    expect(localPath(path)).toBe(path);
  });

  test.each([
    "",
    "settings",
    "//evil.example",
    "/\\evil.example",
    "/\t/evil.example",
    "https://evil.example",
    "/a\r\nLocation: x",
    "/ü",
    null,
    undefined,
    7,
    `/${"x".repeat(9000)}`,
  ])("returns null for %j", (path) => {
    expect(localPath(path)).toBeNull();
  });
});
