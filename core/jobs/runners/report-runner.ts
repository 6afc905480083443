import { db } from "../../db.ts";
import { isServiceError } from "../../errors.ts";
import { findRunner } from "./find-runner.ts";
import { RUNNER_REPORT_KEY } from "./runner-report.ts";

/** Reports how this worker runs jobs (`readRunnerReport`). */
export async function reportRunner(): Promise<void> {
  const found = await findRunner().catch((error: unknown) => ({
    refusal: isServiceError(error) ? error.message : "The worker could not find out how to run jobs; its log says more.",
  }));
  const value =
    "refusal" in found ? { refusal: found.refusal } : { runner: found.name, limits: (await found.report?.()) ?? null };
  await db().setting.upsert({
    where: { key: RUNNER_REPORT_KEY },
    create: { key: RUNNER_REPORT_KEY, value },
    update: { value, updatedAt: new Date() },
  });
}
