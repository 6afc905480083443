import { expect, test } from "vitest";
import { nextPath, signInPath } from "./next-path.ts";

test.each(["/", "/settings/profile", "/interaction/abc_-1?x=1&y=%2F%2Fevil.example", "/a#b"])("%s is followed", (path) => {
  expect(nextPath(path)).toBe(path);
});

test.each([
  "//evil.example",
  "/\\evil.example",
  "/\t/evil.example",
  "\t//evil.example",
  "/\n/evil.example",
  "https://evil.example/",
  "https:evil.example",
  "javascript:alert(1)",
  "evil.example",
  "",
  "/a\u0000b",
  "/a b",
  "/..//evil.example",
  "/.//evil.example",
  "/x/..\\/evil.example",
  `/${"a".repeat(10_000)}`,
  undefined,
  ["/a", "/b"],
])("open redirect: %j goes to the fallback", (path) => {
  expect(nextPath(path, "/settings")).toBe("/settings");
});

test("a path is returned as a browser resolves it", () => {
  expect(nextPath("/a/../b")).toBe("/b");
});

test("the sign-in page's URL contains the path to return to", () => {
  expect(signInPath("/a?b=c&d=e")).toBe("/login?next=%2Fa%3Fb%3Dc%26d%3De");
});
