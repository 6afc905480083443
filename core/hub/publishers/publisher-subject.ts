import { type Actor, actorId } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import type { TrustedPublisher } from "../../accounts/publishers/publisher.ts";
import { lockLiveUser } from "../../accounts/users/lock-live-user.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, db } from "../../db.ts";
import { notFound } from "../../errors.ts";
import { findRepo, type RepoName } from "../repos/find-repo.ts";
import { lockRepo } from "../repos/read-repos.ts";
import { type Repo, repoResource } from "../repos/repo.ts";

/** What a publisher is trusted with: writing one repository, or reading as one user. */
export type PublisherSubject = { repo: RepoName } | { userId: string };

export type ChangedSubject = { repo: Repo } | { userId: string };

/** The columns by which a publisher belongs to its subject. */
export const subjectColumns = (subject: ChangedSubject): { repoId: string } | { userId: string } =>
  "repo" in subject ? { repoId: subject.repo.id } : { userId: subject.userId };

/** @throws ServiceError `not_found`, `forbidden`, `unauthorized`, `reauthentication_required` (S113) */
export async function requireChangeableSubject(actor: Actor, subject: PublisherSubject): Promise<void> {
  if ("userId" in subject) await requirePermission(actor, "user.manage_publishers", subject, { what: "User" });
  else await findRepo(actor, subject.repo, "repo.manage_publishers");
}

/** Lets one caller at a time change whom a subject trusts, with the right asked for as things stand then (S135). */
export async function changeSubject<T>(
  actor: Actor,
  subject: PublisherSubject,
  change: (tx: Db, subject: ChangedSubject) => Promise<T>,
): Promise<T> {
  if ("userId" in subject) {
    return db().$transaction(async (tx) => {
      await requirePermission(actor, "user.manage_publishers", subject, { what: "User", tx });
      await lockLiveUser(tx, subject.userId);
      return change(tx, subject);
    });
  }
  const { id } = await findRepo(actor, subject.repo, "repo.manage_publishers");
  return db().$transaction(async (tx) => {
    const repo = await lockRepo(tx, id);
    if (!repo) throw notFound("Repository");
    await requirePermission(actor, "repo.manage_publishers", repoResource(repo), { what: "Repository", tx });
    return change(tx, { repo });
  });
}

/** That somebody is trusted from now on, or no longer: for the administrators of the repository's organization too (S116). */
export async function recordPublisherAudit(
  tx: Db,
  actor: Actor,
  what: "create" | "delete",
  { subject, publisher, from }: { subject: ChangedSubject; publisher: Described; from: RequestOrigin },
): Promise<void> {
  const repo = "repo" in subject ? subject.repo : undefined;
  await recordAuditEvent(tx, {
    type: `trusted_publisher.${what}`,
    actorId: actorId(actor),
    orgId: repo?.owner.kind === "organization" ? repo.owner.id : null,
    subjectId: "userId" in subject ? subject.userId : null,
    data: {
      publisherId: publisher.id,
      preset: publisher.preset,
      issuer: publisher.issuer,
      claims: publisher.claims,
      ...(repo && { repo: repo.fullName, type: repo.type }),
    },
    from,
  });
}

type Described = Pick<TrustedPublisher, "id" | "preset" | "issuer" | "claims">;
