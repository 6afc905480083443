export const jobStages = ["SCHEDULING", "RUNNING", "COMPLETED", "CANCELED", "ERROR"] as const;
export type JobStage = (typeof jobStages)[number];

export const isOver = (stage: JobStage): boolean => stage !== "SCHEDULING" && stage !== "RUNNING";

/** `job`: a run is waiting. `job_log`: the payload is the ID of a run with a new stage or new output. */
export const JOB_CHANNEL = "job";
export const JOB_LOG_CHANNEL = "job_log";
export const JOB_CANCEL_CHANNEL = "job_cancel";
