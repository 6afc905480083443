import { pathSegment } from "../path-segment.ts";

/** Whose jobs the pages are of: an organization's by its name, or null for the person's own. */
export type JobHome = string | null;

export function jobListPath(home: JobHome): string {
  return home === null ? "/settings/jobs" : `/organizations/${pathSegment(home)}/settings/jobs`;
}

export function jobPath(home: JobHome, runId: string): string {
  return `${jobListPath(home)}/${pathSegment(runId)}`;
}

export function schedulesPath(home: JobHome): string {
  return `${jobListPath(home)}/schedules`;
}
