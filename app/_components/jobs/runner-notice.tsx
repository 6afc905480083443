import { readRunnerReport } from "#core/jobs/runners/runner-report.ts";
import { FormMessage } from "../form-message.tsx";

/** Says so where this installation runs no jobs at present, and what its operator has to do. */
export async function RunnerNotice() {
  const report = await readRunnerReport();
  if (report.kind === "runs") return null;
  return (
    <FormMessage tone="bad">
      {report.kind === "refuses"
        ? `Jobs do not run at present. ${report.refusal}`
        : "Jobs wait at present: no worker of this installation is running. Its operator starts one with npm start."}
    </FormMessage>
  );
}
