import type { JobSpec } from "@keyhook/sdk";
import Link from "next/link";
import { JOBS_OFF, readRunnerReport } from "#core/jobs/runners/runner-report.ts";
import type { Run } from "#core/jobs/runs/run.ts";
import type { JobStage } from "#core/jobs/stages.ts";
import { commandLine } from "../../_server/jobs/command-line.ts";
import { currentSession } from "../../_server/session.ts";
import { Chip, type ChipProps } from "../chip.tsx";
import { FormMessage } from "../page-layout.tsx";

function formatDuration(milliseconds: number): string {
  const seconds = Math.max(0, milliseconds / 1000);
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function runDuration({ startedAt, finishedAt }: Run, now = new Date()): string | undefined {
  return startedAt ? formatDuration((finishedAt ?? now).getTime() - startedAt.getTime()) : undefined;
}

export function commandOf({ command, arguments: given, dockerImage }: JobSpec): string {
  return commandLine([...command, ...given]) || `the default command of the image ${dockerImage}`;
}

/** A command has up to half a megabyte, and a page contains it several times (S137). */
export function startOfCommand(spec: JobSpec, maxCharacters = 300): string {
  const command = commandOf(spec);
  return command.length > maxCharacters ? `${command.slice(0, maxCharacters).toWellFormed()} …` : command;
}

export function imageOrSpaceOf({ dockerImage, spaceId }: JobSpec): string {
  return spaceId ? `Space ${spaceId}` : (dockerImage ?? "");
}

export function initiatedBy({ initiator }: Run): string {
  switch (initiator.type) {
    case "webhook":
      return "a webhook";
    case "scheduled-job":
      return "a schedule";
    case "duplicated-job":
      return "run again";
    default:
      return initiator.name ?? "a deleted user";
  }
}

export const stageWords: Readonly<Record<JobStage, string>> = {
  SCHEDULING: "Waiting",
  RUNNING: "Running",
  COMPLETED: "Done",
  CANCELED: "Cancelled",
  ERROR: "Failed",
};

const tones: Readonly<Record<JobStage, ChipProps["tone"]>> = {
  SCHEDULING: "neutral",
  RUNNING: "warn",
  COMPLETED: "good",
  CANCELED: "neutral",
  ERROR: "bad",
};

type StageChipProps = Readonly<{ stage: JobStage; isCancelling?: boolean }>;

export function StageChip({ stage, isCancelling }: StageChipProps) {
  return <Chip tone={tones[stage]}>{isCancelling ? "Cancelling" : stageWords[stage]}</Chip>;
}

export async function RunnerNotice() {
  const report = await readRunnerReport();
  if (report.kind === "runs") return null;
  return (
    <FormMessage tone="bad">
      {report.kind === "refuses" ? JOBS_OFF : "No worker is running, so jobs do not start. The operator can start a worker."}
      {(await currentSession())?.user.isOperator && (
        <>
          {" "}
          <Link prefetch={false} href="/admin" className="underline">
            See Administration
          </Link>
        </>
      )}
    </FormMessage>
  );
}
