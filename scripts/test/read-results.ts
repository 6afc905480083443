import { existsSync, readFileSync } from "node:fs";
import { relative } from "node:path";
import type { Profiled } from "./profile.ts";
import { type Tally, tallyOf } from "./tally.ts";

type VitestReport = {
  numPassedTests: number;
  numFailedTests: number;
  testResults: { name: string; status: string; assertionResults: { fullName: string; status: string }[] }[];
};

/** Vitest's JSON report (as Jest's). A file that did not load, or whose set-up failed, is named by itself. */
export function readVitest(file: string, status: number): Tally {
  const report = readJson<VitestReport>(file);
  if (!report) return tallyOf("vitest", status);
  const failures = report.testResults
    .filter((result) => result.status !== "passed")
    .flatMap(({ name, assertionResults }) => {
      const path = relative(process.cwd(), name);
      const failed = assertionResults.filter((result) => result.status === "failed");
      return failed.length > 0 ? failed.map(({ fullName }) => `${path} › ${fullName}`) : [path];
    });
  const { numPassedTests: passed, numFailedTests: failed } = report;
  return tallyOf("vitest", status, { passed, failed, failures });
}

type Spec = { title: string; ok: boolean; tests: { results: { duration: number }[] }[] };
type Suite = { file: string; suites?: Suite[]; specs?: Spec[] };
type PlaywrightReport = { stats: { expected: number; unexpected: number; flaky: number }; suites: Suite[] };

/** Playwright's JSON report. A flaky test passed when it was tried again. */
export function readPlaywright(file: string, status: number): Tally {
  const report = readJson<PlaywrightReport>(file);
  if (!report) return tallyOf("playwright", status);
  const failures = report.suites.flatMap((suite) =>
    specsOf(suite)
      .filter(({ ok }) => !ok)
      .map(({ title }) => `e2e/${suite.file} › ${title}`),
  );
  const { expected, flaky, unexpected } = report.stats;
  return tallyOf("playwright", status, { passed: expected + flaky, failed: unexpected, failures });
}

const specsOf = ({ suites = [], specs = [] }: Suite): Spec[] => [...specs, ...suites.flatMap(specsOf)];

/** What the stories of each file took together. */
export function profilePlaywright(file: string): Profiled[] {
  const suites = readJson<PlaywrightReport>(file)?.suites ?? [];
  return suites.map((suite) => {
    const results = specsOf(suite).flatMap(({ tests }) => tests.flatMap((test) => test.results));
    return { file: `e2e/${suite.file}`, ms: { browser: results.reduce((sum, { duration }) => sum + duration, 0) } };
  });
}

function readJson<Shape>(file: string): Shape | undefined {
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
}
