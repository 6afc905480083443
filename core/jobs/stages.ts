/** The stage of a run, as the API and the Python client spell it (docs/specification/jobs-and-spaces.md#the-job-record). */
export const jobStages = ["SCHEDULING", "RUNNING", "COMPLETED", "CANCELED", "ERROR"] as const;
export type JobStage = (typeof jobStages)[number];

export const isOver = (stage: JobStage): boolean => stage !== "SCHEDULING" && stage !== "RUNNING";

/** NOTIFY channels. `job`: a run is waiting. `job_log`: the payload is the id of a run with a new stage or new log lines. */
export const JOB_CHANNEL = "job";
export const JOB_LOG_CHANNEL = "job_log";
/** `job_cancel`: the payload is the id of a run that must end. */
export const JOB_CANCEL_CHANNEL = "job_cancel";
