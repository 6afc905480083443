import { expect, test } from "vitest";
import { newToken } from "#core/crypto/token.ts";
import { withoutSecrets } from "./log-access.ts";

test("S55 a link's token is not logged, but shorter parts of a path are", () => {
  expect(withoutSecrets(`/reset-password/${newToken()}`)).toBe("/reset-password/[redacted]");
  expect(withoutSecrets(`/verify-email/${encodeURIComponent(newToken("kh_"))}`)).toBe("/verify-email/[redacted]");
  expect(withoutSecrets("/settings/applications/6b0171106afefd287aea96db")).toBe(
    "/settings/applications/6b0171106afefd287aea96db",
  );
});
