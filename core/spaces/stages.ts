/** The stage of a Space, as the API and the Python client spell it (docs/specification/jobs-and-spaces.md#spaces). */
export const spaceStages = [
  /** The Space has no file to start and no page to show. */
  "NO_APP_FILE",
  /** The Space's front matter requests something impossible. */
  "CONFIG_ERROR",
  /** The Space's files are being laid out. */
  "BUILDING",
  "BUILD_ERROR",
  /** The command runs but does not listen yet. */
  "APP_STARTING",
  "RUNNING",
  /** The Space had no request for a while, or yielded its slot; the next request wakes it. */
  "SLEEPING",
  /** Stopped by a user; no request wakes it. */
  "PAUSED",
  /** The app ended too often, never listened, or could not be run. The runtime's message says why. */
  "RUNTIME_ERROR",
  /** The Space has never run. */
  "STOPPED",
] as const;
export type SpaceStage = (typeof spaceStages)[number];

/** The text that users read if no Space can run. The operator reads the reason on the overview, or in the worker's log. */
export const SPACES_OFF = "Spaces are disabled on this server. The operator can enable them.";

/** Whether a Space in this stage may become RUNNING by itself at any moment. */
export const isComing = (stage: SpaceStage): boolean => stage === "BUILDING" || stage === "APP_STARTING";

/** NOTIFY channels; the payload is the Space's id. `space`: its runtime changed. `space_log`: it printed something. */
export const SPACE_CHANNEL = "space";
export const SPACE_LOG_CHANNEL = "space_log";

/**
 * How long a Space of the free flavor may go without a request before it sleeps, in seconds (docs/specification/jobs-and-spaces.md#spaces).
 */
export const SLEEP_AFTER_SECONDS = 48 * 60 * 60;
/** The shortest sleep time: below it, a Space would only start and stop. */
export const SLEEP_AFTER_MIN_SECONDS = 60;

/** The only machine size: the sandbox's limits. */
export const SPACE_FLAVOR = "cpu-basic";
