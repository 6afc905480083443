import { expect, test } from "vitest";
import { organizationPlanPath, storageQuotaPath } from "../admin/paths.ts";
import { appPath, givenText, jobPath, webhookPath } from "./paths.ts";

test("S51 a URL can be built from any value to which an action is bound", () => {
  const none = { toString: 1, valueOf: 1 } as unknown as string;
  expect(appPath(none, none)).toBe("/organizations//settings/applications/");
  expect(webhookPath(none, none)).toBe("/organizations//settings/webhooks/");
  expect(jobPath(none, none)).toBe("/organizations//settings/jobs/");
  expect([organizationPlanPath(none), storageQuotaPath(none)]).toEqual(["/admin/organizations/", "/admin/storage/"]);
  expect(webhookPath("a/b\ud800", "1")).toBe("/organizations/a%2Fb%EF%BF%BD/settings/webhooks/1");
  expect(["a\0b", none, undefined, "a b"].map(givenText)).toEqual(["", "", "", "a b"]);
});
