import type { ReplayAnswerJson } from "@keyhook/sdk";
import type { Context } from "../../context.ts";
import { Refused } from "../../errors.ts";

/** How an attempt ended. @throws Refused where it failed: a script sees it by the exit code */
export function printAnswer({ print }: Context, message: string, answer: ReplayAnswerJson): void {
  const { delivery, outcome, status, durationMs, reason } = answer;
  print.done(message, { delivery, outcome, status, ms: durationMs });
  if (outcome === "delivered") return;
  throw new Refused(`It did not arrive: ${reason ?? `the target answered ${status}`}.`);
}
