/**
 * Where a Space is, as the API spells it (`runtime.stage`, docs/specification/jobs-and-spaces.md#spaces; the Python client knows these
 * words).
 */
export const spaceStages = [
  /** There is no file that could be started, or no page that could be shown. */
  "NO_APP_FILE",
  /** Its front matter asks for what cannot be given. */
  "CONFIG_ERROR",
  /** Its files are being laid out. */
  "BUILDING",
  "BUILD_ERROR",
  /** Its command runs and does not listen yet. */
  "APP_STARTING",
  "RUNNING",
  /** Nobody asked for it for a while; the next request wakes it. */
  "SLEEPING",
  /** Somebody who may has stopped it; no request wakes it. */
  "PAUSED",
  /** It ended too often, or never listened. Its log says why. */
  "RUNTIME_ERROR",
  /** It has never run. */
  "STOPPED",
] as const;
export type SpaceStage = (typeof spaceStages)[number];

/** Those in which the next moment may bring it to RUNNING by itself. */
export const isComing = (stage: SpaceStage): boolean => stage === "BUILDING" || stage === "APP_STARTING";

/** NOTIFY channels; the payload is the Space's id. `space`: its runtime changed. `space_log`: it printed something. */
export const SPACE_CHANNEL = "space";
export const SPACE_LOG_CHANNEL = "space_log";

/** After how long without a request a Space of the free flavor sleeps, in seconds (docs/specification/jobs-and-spaces.md#spaces). */
export const SLEEP_AFTER_SECONDS = 48 * 60 * 60;
/** It may be told to sleep sooner, but not so soon that it does nothing but start. */
export const SLEEP_AFTER_MIN_SECONDS = 60;

/** The one kind of machine there is: what the sandbox is limited to. */
export const SPACE_FLAVOR = "cpu-basic";
