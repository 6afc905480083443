import { notFound } from "next/navigation";
import { type Person, personActor } from "#core/access/actor.ts";
import { isServiceError } from "#core/errors.ts";
import { findJobNamespace, type JobNamespace } from "#core/jobs/find-job-namespace.ts";
import { requireOrganizationPage } from "../organization-page.ts";
import { requireSession } from "../session.ts";
import { type JobHome, jobListPath } from "./job-paths.ts";

export type JobPlace = Readonly<{
  person: Person;
  owner: JobNamespace;
  /** The organization's name as it spells it, or null. */
  home: JobHome;
  /** In sentences: `Tidepool`, or null for the person's own. */
  fullName: string | null;
}>;

/**
 * Whose jobs an address is about, and who looks at them; the page of unknown things for those who may not (S136).
 * @param home from the address, or from a form: it may be anything
 */
export async function findJobPlace(home: JobHome): Promise<JobPlace> {
  if (home === null) {
    const session = await requireSession(jobListPath(null));
    const person = personActor(session);
    return { person, owner: { kind: "user", id: session.userId, handle: session.user.username }, home, fullName: null };
  }
  const { person, organization } = await requireOrganizationPage(home);
  const owner = await orNotFound(findJobNamespace(person, "job.read", organization.name));
  return { person, owner, home: organization.name, fullName: organization.fullName };
}

/** What is not there, or not theirs to see, is the page of unknown things. */
export async function orNotFound<T>(found: Promise<T>): Promise<T> {
  try {
    return await found;
  } catch (error) {
    if (isServiceError(error) && error.code === "not_found") notFound();
    throw error;
  }
}
