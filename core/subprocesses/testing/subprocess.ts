import { answerInSubprocess } from "../answer-in-subprocess.ts";

export type Question =
  | "echo"
  | "throw"
  | "loop"
  | "regex"
  | "memory"
  | "exit"
  | { killWith: NodeJS.Signals }
  | { sleepMs: number };

answerInSubprocess((question: Question): unknown => {
  if (question === "throw") throw new Error("no");
  if (question === "loop") for (;;);
  if (question === "regex") return /^(a+)+$/.test(`${"a".repeat(60)}b`);
  if (question === "memory") for (const all: unknown[] = []; ; ) all.push(new Array(1_000).fill(all.length));
  if (question === "exit") process.exit(0);
  if (typeof question === "object" && "killWith" in question) {
    process.kill(process.pid, question.killWith);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5_000);
  } else if (typeof question === "object") Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, question.sleepMs);
  return question;
});
