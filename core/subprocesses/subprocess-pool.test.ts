import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { requestContext } from "../log.ts";
import { SubprocessPool } from "./subprocess-pool.ts";
import type { Question } from "./testing/subprocess.ts";

const CPU_MAX_MS = 200;
let pools = 0;
const newPool = (subprocesses = 2, cpuMaxMs = CPU_MAX_MS) =>
  new SubprocessPool<Question, Question>({
    name: `test_subprocesses_${pools++}`,
    module: "core/subprocesses/testing/subprocess.ts",
    subprocesses,
    cpuMaxMs,
    memoryMaxMb: 32,
    // With a low priority, the limit by the clock may come first.
    niceness: 0,
  });

describe("S137 a question in a subprocess", () => {
  test("that throws counts as too large, and the same subprocess answers the next question", async () => {
    const pool = newPool();
    expect(await pool.ask("throw")).toBe("too large");
    expect(await pool.ask("echo")).toEqual({ answer: "echo" });
  });

  test.for(["SIGKILL", "SIGTERM"] as const)("may be asked again if somebody else sends %s", async (killWith) => {
    const pool = newPool();
    expect(await pool.ask({ killWith })).toBe("busy");
    expect(await pool.ask("echo")).toEqual({ answer: "echo" });
  });

  test.for(["loop", "regex", "memory", "exit"] as const)(
    "of the kind %s is too much, and the next question is answered",
    async (question) => {
      const pool = newPool();
      expect(await pool.ask(question)).toBe("too much");
      expect(await pool.ask("echo")).toEqual({ answer: "echo" });
    },
  );

  test("does not run in the event loop's thread", async () => {
    const cpuMaxMs = 1_000;
    const pool = newPool(2, cpuMaxMs);
    await pool.ask("echo");
    const cost = async (question: "exit" | "loop") => {
      const before = process.threadCpuUsage();
      await pool.ask(question);
      const { user, system } = process.threadCpuUsage(before);
      return (user + system) / 1_000;
    };
    // Starting another subprocess also takes CPU time of this thread.
    const [ending, running] = [await cost("exit"), await cost("loop")];
    expect(running - ending).toBeLessThan(cpuMaxMs / 2);
  });

  test("has a limit of CPU time instead of elapsed time", async () => {
    const pool = newPool(2, 50);
    expect(await pool.ask({ sleepMs: 200 })).toEqual({ answer: { sleepMs: 200 } });
    // `busy` means that the question may be asked again.
    expect(await pool.ask({ sleepMs: 60_000 })).toBe("busy");
  });

  test("is not tried if it proves to be too much while it waits", async () => {
    const pool = newPool(1);
    let isKnown = false;
    const first = pool.ask("loop").then((outcome) => {
      isKnown = true;
      return outcome;
    });
    const later = Array.from({ length: 20 }, () => pool.ask("loop", { known: () => (isKnown ? "too much" : undefined) }));
    const before = Date.now();
    expect(await first).toBe("too much");
    const one = Date.now() - before;
    expect(new Set(await Promise.all(later))).toEqual(new Set(["too much"]));
    expect(Date.now() - before).toBeLessThan(Math.max(5 * one, 3_000));
  });

  test("waits for only one turn of a hostile other party", async () => {
    const pool = newPool(2);
    await pool.ask("echo");
    const from = (ip: string, question: Question) => requestContext.run({ requestId: "test", ip }, () => pool.ask(question));
    let finished = 0;
    const hostile = Array.from({ length: 8 }, () => from("192.0.2.1", "loop").then(() => finished++));
    await delay(10);
    expect(await from("192.0.2.2", "echo")).toEqual({ answer: "echo" });
    expect(finished).toBeLessThanOrEqual(2);
    await Promise.all(hostile);
  });
});

test("a pool whose module does not start answers that it is busy", async () => {
  const pool = new SubprocessPool({
    name: "test_none",
    module: "core/subprocesses/none.ts",
    subprocesses: 1,
    cpuMaxMs: 100,
    memoryMaxMb: 32,
  });
  expect(await pool.ask("echo")).toBe("busy");
});
