export const spaceStages = [
  "NO_APP_FILE",
  "CONFIG_ERROR",
  "BUILDING",
  "BUILD_ERROR",
  "APP_STARTING",
  "RUNNING",
  "SLEEPING",
  "PAUSED",
  "RUNTIME_ERROR",
  "STOPPED",
] as const;
export type SpaceStage = (typeof spaceStages)[number];

/** Users read this text. The operator reads the reason on the overview. */
export const SPACES_OFF = "Spaces are disabled on this server. The operator can enable them.";

export const isComing = (stage: SpaceStage): boolean => stage === "BUILDING" || stage === "APP_STARTING";

/** The payload is a Space's ID. `space` means that the runtime changed, and `space_log` that there is new output. */
export const SPACE_CHANNEL = "space";
export const SPACE_LOG_CHANNEL = "space_log";

export const SLEEP_AFTER_SECONDS = 48 * 60 * 60;
export const SLEEP_AFTER_MIN_SECONDS = 60;

export const SPACE_FLAVOR = "cpu-basic";
