/**
 * The stage of a run, as the API spells it (`status.stage`, docs/specification/jobs-and-spaces.md#the-job-record; the Python client knows
 * these words).
 */
export const jobStages = ["SCHEDULING", "RUNNING", "COMPLETED", "CANCELED", "ERROR"] as const;
export type JobStage = (typeof jobStages)[number];

export const isOver = (stage: JobStage): boolean => stage !== "SCHEDULING" && stage !== "RUNNING";

/** NOTIFY channels. `job`: a run waits. `job_log`: its payload is the id of a run with news. */
export const JOB_CHANNEL = "job";
export const JOB_LOG_CHANNEL = "job_log";
/** `job_cancel`: its payload is the id of a run that is to end. */
export const JOB_CANCEL_CHANNEL = "job_cancel";
