export type SubprocessMessage<Answer> = { cpuMicroseconds: number } & (
  | { kind: "ready" }
  | { kind: "answer"; answer: Answer }
  | { kind: "too large" }
);

/** @param work if it throws, the question counts as too large */
export function answerInSubprocess<Question, Answer>(work: (question: Question) => Answer): void {
  // A text may cause 65,000 errors, and their stack traces would take long.
  Error.stackTraceLimit = 0;
  process.on("message", (question: Question) => send(outcomeOf(work, question)));
  send({ kind: "ready" });
}

function outcomeOf<Question, Answer>(work: (question: Question) => Answer, question: Question) {
  try {
    return { kind: "answer", answer: work(question) } as const;
  } catch {
    return { kind: "too large" } as const;
  }
}

function send(message: { kind: SubprocessMessage<unknown>["kind"]; answer?: unknown }): void {
  const { user, system } = process.cpuUsage();
  process.send?.({ ...message, cpuMicroseconds: user + system });
}
