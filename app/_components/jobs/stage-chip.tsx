import type { JobStage } from "#core/jobs/stages.ts";
import { Chip, type ChipProps } from "../chip.tsx";

/** Stages in the words of the pages; the API's own are in docs/guides/jobs.md. */
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

export type StageChipProps = Readonly<{ stage: JobStage; isCancelling?: boolean }>;

export function StageChip({ stage, isCancelling }: StageChipProps) {
  return <Chip tone={tones[stage]}>{isCancelling ? "Cancelling" : stageWords[stage]}</Chip>;
}
