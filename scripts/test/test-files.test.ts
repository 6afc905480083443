import { expect, test } from "vitest";
import { kindOf, testFiles } from "./test-files.ts";

test.each([
  ["scripts/test/test-files.test.ts", "pure"],
  ["core/webhooks/manage/parse-webhook.test.ts", "pure"], // with the packages that it imports
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
