import { openApiRoutes } from "../open-api.ts";
import { jobHardwareRoute } from "./hardware.ts";
import { listJobsRoutes } from "./list-jobs.ts";
import { oneJobRoutes } from "./one-job.ts";
import { oneScheduledJobRoutes } from "./one-scheduled-job.ts";
import { runJobRoutes } from "./run-job.ts";
import { scheduledJobsRoutes } from "./scheduled-jobs.ts";
import { jobStreamRoutes } from "./streams.ts";

/**
 * The routes of jobs and their schedules (docs/specification/jobs-and-spaces.md#jobs). `hardware` comes first, because it is not a possible
 * name.
 */
export const jobRoutes = openApiRoutes();

for (const routes of [
  jobHardwareRoute,
  listJobsRoutes,
  runJobRoutes,
  jobStreamRoutes,
  oneJobRoutes,
  scheduledJobsRoutes,
  oneScheduledJobRoutes,
]) {
  jobRoutes.route("/", routes);
}
