import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { requestContext } from "../../log.ts";
import { CheckTurn, type TurnOptions } from "./check-turn.ts";

const { signal } = new AbortController();
const asCaller = <T>(name: string, work: () => Promise<T>): Promise<T> =>
  requestContext.run({ requestId: name, party: { key: `account ${name}`, isAnonymous: false } }, work);
const options = (changes: Partial<TurnOptions> = {}): TurnOptions => ({
  within: "repo",
  signal,
  mustYield: () => false,
  ...changes,
});

test("S137 checks that take all slots let others have their turn", async () => {
  let isServed = false;
  let finished = 0;
  const long = ["ada", "ada", "eve", "eve"].map((name) =>
    asCaller(name, () =>
      CheckTurn.run(options({ within: `${name}'s` }), async (turn) => {
        while (!isServed) {
          await turn.pass();
          await delay(1);
        }
        finished += 1;
      }),
    ),
  );
  await asCaller("newcomer", () => CheckTurn.run(options(), () => Promise.resolve()));
  isServed = true;
  await Promise.all(long);
  expect(finished).toBe(4);
});

test("S145 a check that takes too long ends only if another one waits", async () => {
  const late = (mustYield: () => boolean) => CheckTurn.run(options({ mustYield, stayMs: -1 }), (turn) => turn.pass());
  await late(() => false);
  await expect(late(() => true)).rejects.toMatchObject({ code: "unavailable", retryAfterSeconds: 60 });
  await expect(CheckTurn.run(options({ mustYield: () => true }), (turn) => turn.pass())).resolves.toBeUndefined();
});

test("a check whose client has left ends", async () => {
  const gone = AbortSignal.abort(new Error("gone"));
  await expect(CheckTurn.run(options({ signal: gone }), (turn) => turn.pass())).rejects.toThrow("gone");
});
