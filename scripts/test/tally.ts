/** What a step counted, and what failed by name. */
export type Tally = { passed: number; failed: number; failures: string[] };

export const NOTHING: Tally = { passed: 0, failed: 0, failures: [] };

export const addTallies = (a: Tally, b: Tally): Tally => ({
  passed: a.passed + b.passed,
  failed: a.failed + b.failed,
  failures: [...a.failures, ...b.failures],
});

/** A tool that only says yes or no. */
export const tallyOfCheck = (title: string, status: number): Tally =>
  status === 0 ? { passed: 1, failed: 0, failures: [] } : { passed: 0, failed: 1, failures: [title] };

/** What a tool counted, and its exit status. One that failed without a failed test (a suite that did not load) has failed. */
export function tallyOf(tool: string, status: number, counted: Tally = NOTHING): Tally {
  const { passed, failed, failures } = counted;
  const isUnexplained = failed === 0 && (status !== 0 || passed === 0);
  if (!isUnexplained) return counted;
  return { passed, failed: 1, failures: failures.length > 0 ? failures : [`${tool} ended with status ${status}`] };
}
