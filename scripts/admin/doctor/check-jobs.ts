import { env } from "#core/env.ts";
import { readRunnerReport } from "#core/jobs/runners/runner-report.ts";
import { type Finding, findings } from "./finding.ts";

const report = findings("jobs");

/** Whether jobs and Spaces run, and what holds them to their limits, as a worker said last. */
export async function checkJobs(): Promise<Finding[]> {
  const said = await readRunnerReport();
  if (said.kind === "silent") return [report.ok("no worker has said lately how it runs them")];
  if (said.kind === "refuses") {
    if (env().JOBS_RUNNER === "off") return [report.ok("refused, as JOBS_RUNNER says")];
    return [report.warn("refused", said.refusal)];
  }
  const { runner, limits } = said;
  if (runner === "unsandboxed") {
    return [
      report.warn(
        "run as this service's own user, without any limit but time",
        "Set JOBS_RUNNER unless everybody who may run jobs is trusted with the machine.",
      ),
    ];
  }
  if (!limits || limits.isExact) return [report.ok([runner, limits?.sentence].filter(Boolean).join(": "))];
  return [
    report.warn(
      `${runner}: ${limits.sentence}`,
      'docs/operations.md, "What holds a job", says how to let it make cgroups (Delegate=yes).',
    ),
  ];
}
