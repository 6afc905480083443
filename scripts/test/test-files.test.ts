import { expect, test } from "vitest";
import { kindOf, testFiles, testFilesNear } from "./test-files.ts";

test.each([
  ["scripts/test/test-files.test.ts", "pure"],
  ["core/oauth/clients/client-metadata.test.ts", "pure"], // although it imports packages
  ["core/accounts/tokens/personal-access-token.test.ts", "database"],
  ["core/hub/markdown/render-markdown.test.ts", "database"], // starts subprocesses
  ["supervisor.test.ts", "database"],
  ["server/repo-pages.test.ts", "process"],
])("%s is %s", (file, kind) => {
  expect(kindOf(file)).toBe(kind);
});

test("each file is of one kind", () => {
  const { pure, database, process } = testFiles();
  expect(new Set([...pure, ...database, ...process]).size).toBe(pure.length + database.length + process.length);
  expect(pure.length).toBeGreaterThan(50);
});

test.each([
  ["core/webhooks/manage/parse-webhook.ts", "core/webhooks/manage/parse-webhook.test.ts"], // imports it
  ["api/routes/webhooks/webhooks.ts", "api/webhooks.test.ts"], // is named after its folder
  ["core/webhooks/manage/a-new-file.ts", "core/webhooks/manage/manage-webhooks.test.ts"], // is in the same folder
  ["api/repos.test.ts", "api/repos.test.ts"],
])("the tests near %s include %s, and exclude most tests", (changed, test) => {
  const near = testFilesNear([changed]);
  expect(near).toContain(test);
  expect(near.length).toBeLessThan(20);
});

test("a changed file at the root is near only the test files that import it", () => {
  expect(testFilesNear(["README.md", ""])).toEqual([]);
});
