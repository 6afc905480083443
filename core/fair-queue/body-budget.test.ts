import { expect, test } from "vitest";
import { BodyBudget } from "./body-budget.ts";

const account = (name: string) => ({ key: `account ${name}`, isAnonymous: false });
const address = (name: string) => ({ key: `address ${name}`, isAnonymous: true });

test("S137 one caller leaves room for another, and is told when to retry", () => {
  const budget = new BodyBudget({ bytes: 100, anonymousBytes: 50 });
  const release = budget.take(50, account("greedy"));
  const refusal = expect.objectContaining({ code: "unavailable", retryAfterSeconds: 5 });
  expect(() => budget.take(1, account("greedy"))).toThrow(refusal);
  budget.take(25, account("newcomer"));
  release();
  release();
  expect(budget.takenBytes).toBe(25);
  budget.take(30, account("greedy"));
});

test("S137 half of the budget is left to accounts, even if many addresses send bodies", () => {
  const budget = new BodyBudget({ bytes: 1_000, anonymousBytes: 500 });
  let sent = 0;
  for (let each = 0; each < 1_000; each++) {
    try {
      budget.take(10, address(`${each}`));
      sent += 10;
    } catch {
      // A refused body is not counted.
    }
  }
  expect(sent).toBeGreaterThan(400);
  expect(sent).toBeLessThanOrEqual(500);
  budget.take(200, account("ada"));
});
