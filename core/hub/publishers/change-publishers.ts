import { type Actor, actorId } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { plainText } from "../../accounts/plain-text.ts";
import { discoverKeys, IssuerUnusable } from "../../accounts/publishers/issuer-keys.ts";
import type { Claims } from "../../accounts/publishers/preset.ts";
import { isPresetName, type PresetName, presets } from "../../accounts/publishers/presets.ts";
import { publisherColumns, type TrustedPublisher, toPublisher } from "../../accounts/publishers/publisher.ts";
import { consumeThrottle, throttleKey } from "../../accounts/throttle.ts";
import { lockLiveUser } from "../../accounts/users/find-user.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, db } from "../../db.ts";
import { conflict, invalidRequest, notFound, ServiceError } from "../../errors.ts";
import { isId, newId } from "../../ids.ts";
import { findRepo, type RepoName } from "../repos/find-repo.ts";
import { lockRepo } from "../repos/read-repos.ts";
import { type Repo, repoResource } from "../repos/repo.ts";

/** Limited, because each token of a job is compared with all publishers of its subject. */
export const PUBLISHERS_MAX = 20;
/** Limited, because each addition may send a request to a server that the user chose. */
const ADDITIONS = { limit: 60, windowSeconds: 60 * 60 };

/** Fetches the issuer's keys, so that a mistake shows now and not in a job. */
export async function addPublisher(
  actor: Actor,
  subject: PublisherSubject,
  input: NewPublisher,
  from: RequestOrigin,
): Promise<TrustedPublisher> {
  await requireChangeableSubject(actor, subject);
  const parsed = parsePublisher(input);
  const issuerField = issuerFieldOf(parsed.preset);
  if (issuerField && parsed.issuer !== "https://gitlab.com") {
    await consumeThrottle(throttleKey("publisher_add", actorId(actor) ?? "command"), ADDITIONS);
    await discoverKeys(parsed.issuer).catch((error: unknown) => {
      if (!(error instanceof IssuerUnusable)) throw error;
      const sentence = `Tokens of this issuer cannot be verified: ${error.message}.`;
      throw new ServiceError("invalid_request", sentence, { field: issuerField, cause: error });
    });
  }
  return changeSubject(actor, subject, async (tx, changed) => {
    const where = subjectColumns(changed);
    const present = await tx.trustedPublisher.findMany({ where, select: publisherColumns, take: PUBLISHERS_MAX + 1 });
    if (present.some((one) => isSame(toPublisher(one), parsed))) throw conflict("These jobs are already trusted.");
    if (present.length >= PUBLISHERS_MAX) {
      throw conflict(`There are already ${PUBLISHERS_MAX} publishers. Delete one first.`);
    }
    const data = { id: newId(), ...where, ...parsed, createdById: actorId(actor) };
    const row = await tx.trustedPublisher.create({ data, select: publisherColumns });
    await recordPublisherAudit(tx, actor, "create", { subject: changed, publisher: toPublisher(row), from });
    return toPublisher(row);
  });
}

type Trusted = Pick<TrustedPublisher, "issuer" | "claims">;

function isSame(one: Trusted, other: Trusted): boolean {
  const text = ({ issuer, claims }: Trusted) => JSON.stringify([issuer, Object.entries(claims).sort()]);
  return text(one) === text(other);
}

export async function removePublisher(
  actor: Actor,
  subject: PublisherSubject,
  publisherId: string,
  from: RequestOrigin,
): Promise<void> {
  await changeSubject(actor, subject, async (tx, changed) => {
    const where = { id: publisherId, ...subjectColumns(changed) };
    const row = isId(publisherId) ? await tx.trustedPublisher.findFirst({ where, select: publisherColumns }) : null;
    const { count } = row ? await tx.trustedPublisher.deleteMany({ where }) : { count: 0 };
    if (!row || count === 0) throw notFound("Publisher");
    await recordPublisherAudit(tx, actor, "delete", { subject: changed, publisher: toPublisher(row), from });
  });
}

export type PublisherSubject = { repo: RepoName } | { userId: string };

type ChangedSubject = { repo: Repo } | { userId: string };

const subjectColumns = (subject: ChangedSubject): { repoId: string } | { userId: string } =>
  "repo" in subject ? { repoId: subject.repo.id } : { userId: subject.userId };

/** @throws ServiceError `reauthentication_required` if the authentication is not recent (S113) */
async function requireChangeableSubject(actor: Actor, subject: PublisherSubject): Promise<void> {
  if ("userId" in subject) await requirePermission(actor, "user.manage_publishers", subject, { what: "User" });
  else await findRepo(actor, subject.repo, "repo.manage_publishers");
}

/** Changes of a subject's publishers run one after the other, and check the permission again under the lock (S135). */
async function changeSubject<T>(
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
  const by = actorId(actor);
  return db().$transaction(async (tx) => {
    // The account's deletion ends the publishers that the user added, and must not miss a new one.
    if (by) await lockLiveUser(tx, by);
    const repo = await lockRepo(tx, id);
    if (!repo) throw notFound("Repository");
    await requirePermission(actor, "repo.manage_publishers", repoResource(repo), { what: "Repository", tx });
    return change(tx, { repo });
  });
}

/** An organization's administrators see the entries for its repositories (S116). */
async function recordPublisherAudit(
  tx: Db,
  actor: Actor,
  what: "create" | "delete",
  { subject, publisher, from }: { subject: ChangedSubject; publisher: Described; from: RequestOrigin },
): Promise<void> {
  const repo = "repo" in subject ? subject.repo : undefined;
  await recordAuditEvent(tx, {
    type: `trusted_publisher.${what}`,
    actor,
    owner: repo?.owner,
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

type NewPublisher = {
  preset: string;
  values: Readonly<Record<string, unknown>>;
};

const ISSUER_MAX_CHARACTERS = 500;

function parsePublisher({ preset, values }: NewPublisher): { preset: PresetName; issuer: string; claims: Claims } {
  if (!isPresetName(preset)) throw invalidRequest("Choose where the jobs run.", "preset");
  const { fields, read } = presets[preset];
  const filled: Record<string, string> = {};
  for (const { name, isRequired, shape, problem } of fields) {
    const value = plainText(name, values[name] ?? "", 4_000).trim();
    if (value === "") {
      if (isRequired) throw invalidRequest("Fill this in.", name);
      continue;
    }
    if (!shape.test(value) || !value.isWellFormed()) throw invalidRequest(problem, name);
    filled[name] = value;
  }
  const { issuer, claims } = read(filled);
  if (issuer.length > ISSUER_MAX_CHARACTERS || !URL.canParse(issuer)) {
    throw invalidRequest("Enter a valid URL.", issuerFieldOf(preset));
  }
  return { preset, issuer, claims };
}

export function issuerFieldOf(preset: PresetName): "issuer" | "gitlabUrl" | undefined {
  if (preset === "oidc") return "issuer";
  return preset === "gitlab" ? "gitlabUrl" : undefined;
}
