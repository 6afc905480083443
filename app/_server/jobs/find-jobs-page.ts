import { requireJobs } from "#core/jobs/find-job-namespace.ts";
import { orNotFound } from "../or-not-found.ts";
import { findOwnerPage, type OwnerPage } from "../owner-page.ts";
import type { OwnerName } from "../paths.ts";

export function findJobsPage(home: OwnerName): Promise<OwnerPage> {
  return findOwnerPage(home, "jobs", async (person, id) => {
    await orNotFound(requireJobs(person, "job.read", { kind: "organization", id }));
    return true;
  });
}
