import { expect, test } from "vitest";
import { isOfAnotherKind, tokenPrefix } from "./token-prefix.ts";

test("S55 a token's prefix shows its kind", () => {
  expect(tokenPrefix("AccessToken")).toBe("kh_oauth_");
  expect(isOfAnotherKind("RefreshToken", "kh_oauth_abc")).toBe(true);
  expect(isOfAnotherKind("AccessToken", "kh_refresh_abc")).toBe(true);
  expect(isOfAnotherKind("AccessToken", "kh_oauth_abc")).toBe(false);
});

test("a token with an earlier prefix shows no kind", () => {
  expect(isOfAnotherKind("AccessToken", "old_refresh_abc")).toBe(false);
  expect(isOfAnotherKind("RefreshToken", "old_oauth_abc")).toBe(false);
});
