import { db } from "../../db.ts";

export const RUNNER_REPORT_KEY = "jobs_runner";
const REPORT_MAX_AGE_MS = 5 * 60 * 1000;

export const JOBS_OFF = "Jobs are disabled on this server. The operator can enable them.";

export type LimitsReport = {
  /** Whether the kernel enforces all limits on all processes of a task together. */
  isExact: boolean;
  sentence: string;
};

export type RunnerReport =
  | { kind: "runs"; runner: string; limits: LimitsReport | undefined }
  | { kind: "refuses"; refusal: string }
  | { kind: "silent" };

const SPACE_RUNNERS: readonly string[] = ["bubblewrap", "docker"];

export const doSpacesRun = (report: RunnerReport): boolean =>
  report.kind === "silent" || (report.kind === "runs" && SPACE_RUNNERS.includes(report.runner));

/** Pages use this report, because the web process loads no runners, and may be on another machine than the workers. */
export async function readRunnerReport(): Promise<RunnerReport> {
  const row = await db().setting.findUnique({ where: { key: RUNNER_REPORT_KEY } });
  if (!row || row.updatedAt.getTime() < Date.now() - REPORT_MAX_AGE_MS) return { kind: "silent" };
  const { runner, refusal, limits } = row.value as { runner?: string; refusal?: string; limits?: LimitsReport | null };
  return runner ? { kind: "runs", runner, limits: limits ?? undefined } : { kind: "refuses", refusal: refusal ?? "" };
}
