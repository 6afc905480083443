import { requireJobs } from "#core/jobs/find-job-namespace.ts";
import { orNotFound } from "../or-not-found.ts";
import { findOwnerPlace, type OwnerPlace } from "../owner-place.ts";
import type { OwnerName } from "../paths.ts";

/** Whose jobs a page or a form is about, and who looks at them. */
export function findJobPlace(home: OwnerName): Promise<OwnerPlace> {
  return findOwnerPlace(home, "jobs", async (person, id) => {
    await orNotFound(requireJobs(person, "job.read", { kind: "organization", id }));
    return true;
  });
}
