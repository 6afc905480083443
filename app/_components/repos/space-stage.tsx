import type { SpaceStage } from "#core/spaces/stages.ts";
import { Chip, type ChipProps } from "../chip.tsx";

const looks: Record<SpaceStage, { word: string; tone: ChipProps["tone"] }> = {
  NO_APP_FILE: { word: "No app file", tone: "warn" },
  CONFIG_ERROR: { word: "Cannot be run", tone: "bad" },
  BUILDING: { word: "Building", tone: "neutral" },
  BUILD_ERROR: { word: "Build failed", tone: "bad" },
  APP_STARTING: { word: "Starting", tone: "neutral" },
  RUNNING: { word: "Running", tone: "good" },
  SLEEPING: { word: "Asleep", tone: "neutral" },
  PAUSED: { word: "Paused", tone: "warn" },
  RUNTIME_ERROR: { word: "Failed", tone: "bad" },
  STOPPED: { word: "Stopped", tone: "neutral" },
};

/** How a Space is doing, in a word. */
export function SpaceStageChip({ stage }: Readonly<{ stage: SpaceStage }>) {
  const { word, tone } = looks[stage];
  return <Chip tone={tone}>{word}</Chip>;
}
