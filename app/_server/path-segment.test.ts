import { expect, test } from "vitest";
import { organizationPlanPath } from "../admin/organizations/organizations-path.ts";
import { storageQuotaPath } from "../admin/storage/storage-path.ts";
import { appPath } from "./applications/app-paths.ts";
import { jobPath } from "./jobs/job-paths.ts";
import { webhookPath } from "./webhooks/webhook-paths.ts";

test("S51 an address is made of whatever an action is bound to", () => {
  const none = { toString: 1, valueOf: 1 } as unknown as string;
  expect(appPath(none, none)).toBe("/organizations//settings/applications/");
  expect(webhookPath(none, none)).toBe("/organizations//settings/webhooks/");
  expect(jobPath(none, none)).toBe("/organizations//settings/jobs/");
  expect([organizationPlanPath(none), storageQuotaPath(none)]).toEqual(["/admin/organizations/", "/admin/storage/"]);
  expect(webhookPath("a/b\ud800", "1")).toBe("/organizations/a%2Fb%EF%BF%BD/settings/webhooks/1");
});
