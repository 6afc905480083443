import { existsSync, readFileSync } from "node:fs";
import type { Profiled } from "./profile.ts";
import { type Tally, tallyOf } from "./tally.ts";

/** Vitest's JSON report (as Jest's). */
export function readVitest(file: string, status: number): Tally {
  const report = readJson<{ numPassedTests: number; numFailedTests: number }>(file);
  return tallyOf(status, report && { passed: report.numPassedTests, failed: report.numFailedTests });
}

/** The test files of Vitest's JSON report that did not pass, a suite that did not load among them. */
export function failedFiles(file: string): string[] {
  const report = readJson<{ testResults: { name: string; status: string }[] }>(file);
  return report?.testResults.filter(({ status }) => status !== "passed").map(({ name }) => name) ?? [];
}

/** Playwright's JSON report. A flaky test passed when it was tried again. */
export function readPlaywright(file: string, status: number): Tally {
  const report = readJson<{ stats: { expected: number; unexpected: number; flaky: number } }>(file);
  return tallyOf(status, report && { passed: report.stats.expected + report.stats.flaky, failed: report.stats.unexpected });
}

type Suite = { file: string; suites?: Suite[]; specs?: { tests: { results: { duration: number }[] }[] }[] };

/** What the stories of each file took together. */
export function profilePlaywright(file: string): Profiled[] {
  const durationOf = ({ suites = [], specs = [] }: Suite): number =>
    specs.flatMap(({ tests }) => tests.flatMap(({ results }) => results)).reduce((sum, { duration }) => sum + duration, 0) +
    suites.reduce((sum, suite) => sum + durationOf(suite), 0);
  const report = readJson<{ suites: Suite[] }>(file);
  return report?.suites.map((suite) => ({ file: `e2e/${suite.file}`, ms: { browser: durationOf(suite) } })) ?? [];
}

function readJson<Shape>(file: string): Shape | undefined {
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
}
