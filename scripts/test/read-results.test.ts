import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readPlaywright, readVitest, tallyOf } from "./read-results.ts";

const ended = (status: number) => [`a tool ended with status ${status}`];

test.each([
  { status: 0, counted: { passed: 3, failed: 0, failures: [] }, tally: { passed: 3, failed: 0, failures: [] } },
  { status: 1, counted: { passed: 3, failed: 1, failures: ["a"] }, tally: { passed: 3, failed: 1, failures: ["a"] } },
  { status: 1, counted: { passed: 3, failed: 0, failures: ["a.ts"] }, tally: { passed: 3, failed: 1, failures: ["a.ts"] } }, // a suite that did not load
  { status: 1, counted: undefined, tally: { passed: 0, failed: 1, failures: ended(1) } }, // a tool that did not start
  { status: 0, counted: { passed: 0, failed: 0, failures: [] }, tally: { passed: 0, failed: 1, failures: ended(0) } }, // nothing was tested
])("status $status and $counted count as $tally", ({ status, counted, tally }) => {
  expect(tallyOf("a tool", status, counted)).toEqual(tally);
});

test("each failed test, each failed story and each file that did not load is listed with its reason", () => {
  const folder = mkdtempSync(join(tmpdir(), "keyhook-results-"));
  const report = (name: string, value: object) => {
    writeFileSync(join(folder, name), JSON.stringify(value));
    return join(folder, name);
  };
  const ok = { fullName: "it works", status: "passed" };
  const lines = Array.from({ length: 20 }, (_, i) => `line ${i}`);
  const failed = {
    fullName: "it does not",
    status: "failed",
    failureMessages: [`\x1b[31mError\x1b[39m: no\n${lines.join("\n")}`],
  };
  const testResults = [
    { name: join(process.cwd(), "core/a.test.ts"), status: "passed", assertionResults: [ok] },
    { name: join(process.cwd(), "core/b.test.ts"), status: "failed", assertionResults: [ok, failed] },
    { name: join(process.cwd(), "core/c.test.ts"), status: "failed", message: "no such module", assertionResults: [] },
  ];
  expect(readVitest(report("vitest.json", { numPassedTests: 2, numFailedTests: 1, testResults }), 1)).toEqual({
    ...{ passed: 2, failed: 1 },
    failures: [
      ["core/b.test.ts › it does not", "Error: no", ...lines.slice(0, 7)].join("\n    "),
      "core/c.test.ts\n    no such module",
    ],
  });
  const specs = [
    { title: "a click", ok: false, tests: [{ results: [{ duration: 1, error: { message: "it did not move" } }] }] },
    { title: "another", ok: true, tests: [] },
  ];
  const suites = [{ file: "a.spec.ts", specs: [], suites: [{ file: "a.spec.ts", specs }] }];
  const stats = { expected: 1, unexpected: 1 };
  expect(readPlaywright(report("playwright.json", { stats, suites }), 1)).toEqual({
    ...{ passed: 1, failed: 1 },
    failures: ["e2e/a.spec.ts › a click\n    it did not move"],
  });
  rmSync(folder, { recursive: true });
});
