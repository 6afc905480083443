import { existsSync, readFileSync } from "node:fs";
import { relative } from "node:path";
import { stripVTControlCharacters } from "node:util";
import type { Profiled } from "./profile.ts";

type VitestReport = {
  numPassedTests: number;
  numFailedTests: number;
  testResults: {
    name: string;
    status: string;
    message: string;
    assertionResults: { fullName: string; status: string; failureMessages: string[] }[];
  }[];
};

const REASON_LINES = 8;

/** CI keeps only the end of a long output, so the reason is repeated there. */
const failureOf = (name: string, reason: string | undefined): string =>
  [
    name,
    ...stripVTControlCharacters(reason ?? "")
      .split("\n")
      .filter(Boolean)
      .slice(0, REASON_LINES),
  ].join("\n    ");

/** Reads a report in Jest's format. If a file did not load or its setup failed, the file itself counts as a failure. */
export function readVitest(file: string, status: number): Tally {
  const report = readJson<VitestReport>(file);
  if (!report) return tallyOf("vitest", status);
  const failures = report.testResults
    .filter((result) => result.status !== "passed")
    .flatMap(({ name, message, assertionResults }) => {
      const path = relative(process.cwd(), name);
      const failed = assertionResults.filter((result) => result.status === "failed");
      if (failed.length === 0) return [failureOf(path, message)];
      return failed.map(({ fullName, failureMessages }) => failureOf(`${path} › ${fullName}`, failureMessages[0]));
    });
  const { numPassedTests: passed, numFailedTests: failed } = report;
  return tallyOf("vitest", status, { passed, failed, failures });
}

type Spec = { title: string; ok: boolean; tests: { results: { duration: number; error?: { message?: string } }[] }[] };
type Suite = { file: string; suites?: Suite[]; specs?: Spec[] };
type PlaywrightReport = { stats: { expected: number; unexpected: number }; suites: Suite[] };

export function readPlaywright(file: string, status: number): Tally {
  const report = readJson<PlaywrightReport>(file);
  if (!report) return tallyOf("playwright", status);
  const failures = report.suites.flatMap((suite) =>
    specsOf(suite)
      .filter(({ ok }) => !ok)
      .map(({ title, tests }) => failureOf(`e2e/${suite.file} › ${title}`, tests[0]?.results.at(-1)?.error?.message)),
  );
  const { expected, unexpected } = report.stats;
  return tallyOf("playwright", status, { passed: expected, failed: unexpected, failures });
}

const specsOf = ({ suites = [], specs = [] }: Suite): Spec[] => [...specs, ...suites.flatMap(specsOf)];

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

export type Tally = { passed: number; failed: number; failures: string[] };

export const NOTHING: Tally = { passed: 0, failed: 0, failures: [] };

export const addTallies = (a: Tally, b: Tally): Tally => ({
  passed: a.passed + b.passed,
  failed: a.failed + b.failed,
  failures: [...a.failures, ...b.failures],
});

export const tallyOfCheck = (title: string, status: number): Tally =>
  status === 0 ? { passed: 1, failed: 0, failures: [] } : { passed: 0, failed: 1, failures: [title] };

/** A tool that failed without a failed test counts as a failure. */
export function tallyOf(tool: string, status: number, counted: Tally = NOTHING): Tally {
  const { passed, failed, failures } = counted;
  const isUnexplained = failed === 0 && (status !== 0 || passed === 0);
  if (!isUnexplained) return counted;
  return { passed, failed: 1, failures: failures.length > 0 ? failures : [`${tool} ended with status ${status}`] };
}
