export type Tally = { passed: number; failed: number };

export const addTallies = (a: Tally, b: Tally): Tally => ({ passed: a.passed + b.passed, failed: a.failed + b.failed });

/** A tool that only says yes or no. */
export const tallyOfCheck = (status: number): Tally => (status === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 });

/** What a tool counted, and its exit status. One that failed without a failed test (a suite that did not load) has failed. */
export function tallyOf(status: number, counted: Tally | undefined): Tally {
  const { passed, failed } = counted ?? { passed: 0, failed: 0 };
  const isUnexplained = failed === 0 && (status !== 0 || passed === 0);
  return { passed, failed: isUnexplained ? 1 : failed };
}

/** Test files that failed beside others, and what they counted when they were run again by themselves: that says whether they pass. */
export function afterSecondTry(first: Tally, again: Tally): Tally {
  return { passed: first.passed + Math.max(0, first.failed - again.failed), failed: again.failed };
}
