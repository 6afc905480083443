/** What a subprocess says: that it is ready, what came of a question, or that it was too large; and the CPU time it has used so far. */
export type Said<Answer> = { cpuMicroseconds: number } & (
  | { kind: "ready" }
  | { kind: "answer"; answer: Answer }
  | { kind: "too large" }
);

/**
 * Makes the module that calls it the program of a `SubprocessPool`.
 * @param work what throws counts as too large, or too deep for the stack
 */
export function answerInSubprocess<Question, Answer>(work: (question: Question) => Answer): void {
  // Whoever provokes 65,000 errors need not have a stack trace made for each.
  Error.stackTraceLimit = 0;
  process.on("message", (question: Question) => say(outcomeOf(work, question)));
  say({ kind: "ready" });
}

function outcomeOf<Question, Answer>(work: (question: Question) => Answer, question: Question) {
  try {
    return { kind: "answer", answer: work(question) } as const;
  } catch {
    return { kind: "too large" } as const;
  }
}

function say(what: { kind: Said<unknown>["kind"]; answer?: unknown }): void {
  const { user, system } = process.cpuUsage();
  process.send?.({ ...what, cpuMicroseconds: user + system });
}
