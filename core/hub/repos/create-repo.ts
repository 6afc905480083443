import { isRepoType, type RepoType } from "@keyhook/sdk";
import { type Actor, actorId, clientIdOf } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { findOwner, lockOwner } from "../../accounts/handles/find-owner.ts";
import { isPrivateByDefault } from "../../accounts/organizations/default-visibility.ts";
import { plainText } from "../../accounts/plain-text.ts";
import { consumeThrottle, type ThrottleLimit, throttleKey } from "../../accounts/throttle.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, db } from "../../db.ts";
import { conflict, invalidRequest, notFound, ServiceError } from "../../errors.ts";
import { recordEvent } from "../../events/record-event.ts";
import { newId } from "../../ids.ts";
import { requireRoom } from "../../storage/hold-storage.ts";
import { REPOSITORY_BYTES } from "../../storage/limits.ts";
import { openRepository } from "../git/repository.ts";
import { checkFirstFiles, type Operation } from "../git/write/collect-changes.ts";
import { createCommit } from "../git/write/create-commit.ts";
import { usualLfsAttributes } from "../git/write/lfs-attributes.ts";
import { parsePath } from "../git/write/parse-path.ts";
import { readRepo } from "./read-repos.ts";
import { ownerColumns, parseRepoName, type Repo, repoPayload } from "./repo.ts";
import { parseSdk } from "./repo-settings.ts";

const CREATIONS: ThrottleLimit = { limit: 1_000, windowSeconds: 60 * 60 };

export type NewRepo = {
  type: RepoType;
  owner: string;
  name: string;
  /** By default, a user's repository is public, and an organization's follows its setting. */
  isPrivate?: boolean | undefined;
  sdk?: string | null;
  defaultBranch?: string;
};

export async function createRepo(actor: Actor, input: NewRepo, from: RequestOrigin): Promise<Repo> {
  const { type } = input;
  if (!isRepoType(type)) throw invalidRequest("Choose model, dataset or space.", "type");
  const { spelled, canonical } = parseRepoName(input.name);
  const sdk = parseSdk(input.sdk ?? null, type);
  const owner = await findOwner(input.owner);
  if (!owner) throw notFound("Owner");
  const ask = (tx: Db) => requirePermission(actor, "repo.create", ownerColumns(owner), { what: "Owner", tx });
  await ask(db());
  const isPrivate = input.isPrivate ?? (owner.kind === "organization" && (await isPrivateByDefault(owner.id)));
  if (actor.kind === "person" || actor.kind === "token")
    await consumeThrottle(throttleKey("repo_create", actor.userId), CREATIONS);
  const id = newId();
  const repo = await db().$transaction(async (tx) => {
    if (!(await lockOwner(tx, owner))) throw notFound("Owner");
    await ask(tx);
    await requireRoom(owner, REPOSITORY_BYTES, "another repository", { tx });
    const { count } = await tx.repo.createMany({
      data: [
        {
          id,
          type,
          ownerId: owner.id,
          ownerKind: owner.kind,
          name: spelled,
          nameCanonical: canonical,
          isPrivate,
          sdk,
          ...(input.defaultBranch && { defaultBranch: input.defaultBranch }),
          tags: [],
          createdById: actorId(actor),
          createdByClientId: clientIdOf(actor),
        },
      ],
      skipDuplicates: true,
    });
    if (count === 0) throw conflict(nameTaken(type, owner.handle, spelled), "name");
    // After the insert, no repository is still moving away from this name.
    await tx.repoFormerName.deleteMany({ where: { type, ownerId: owner.id, nameCanonical: canonical } });
    const made = (await readRepo(id, tx)) as Repo;
    await recordAuditEvent(tx, { type: "repo.create", actor, owner, data: { repo: made.fullName, type, isPrivate }, from });
    await recordEvent(tx, {
      payload: { event: { scope: "repo", action: "create" }, repo: repoPayload(made) },
      actorId: actorId(actor),
    });
    return made;
  });
  await openRepository(repo);
  return repo;
}

// Scripts match these texts, so they must not change.
const FIRST_COMMIT = "initial commit";
export const nameTaken = (type: RepoType, handle: string, name: string): string =>
  `A ${type} repository called ${handle}/${name} already exists.`;

type FirstFile = { path: string; content: Uint8Array };

export const FILES_MAX = 100;
const LICENSE_MAX_CHARACTERS = 100;

/**
 * Clients expect a first commit, which they tag or use as a parent at once. It has `files` and a generated .gitattributes. A
 * Space and a repository with a license also get a README.md. A file in `files` replaces a generated one.
 * @param input.autoInit false omits the generated files, for a push of an existing repository
 * @throws ServiceError as `createRepo` and `createCommit`
 */
export async function createRepoWithFiles(
  actor: Actor,
  {
    files = [],
    license,
    autoInit = true,
    ...input
  }: NewRepo & { files?: readonly FirstFile[] | undefined; license?: string | undefined; autoInit?: boolean },
  from: RequestOrigin,
): Promise<Repo> {
  if (files.length > FILES_MAX) {
    throw new ServiceError(
      "payload_too_large",
      `Create the repository with at most ${FILES_MAX.toLocaleString("en")} files, and commit the others afterwards.`,
    );
  }
  const given = files.map(({ path, content }): FirstFile => ({ path: parsePath(path), content }));
  const started = autoInit ? firstFiles(input, license) : [];
  const all = [...started.filter(({ path }) => !given.some((file) => file.path === path)), ...given];
  const owner = all.length > 0 ? await findOwner(input.owner) : undefined;
  if (owner) {
    await requirePermission(actor, "repo.create", ownerColumns(owner), { what: "Owner" });
    // Refused files must not leave an empty repository behind.
    await checkFirstFiles(all);
    await requireRoom(owner, sizeOf(all), "the files of this repository");
  }
  const repo = await createRepo(actor, input, from);
  if (all.length === 0) return repo;
  const name = { type: repo.type, owner: repo.owner.handle, name: repo.name };
  const operations = all.map((file): Operation => ({ type: "file", ...file }));
  await createCommit(actor, name, { revision: repo.defaultBranch, summary: FIRST_COMMIT, operations });
  return (await readRepo(repo.id)) ?? repo;
}

const sizeOf = (files: readonly FirstFile[]): number => files.reduce((sum, { content }) => sum + content.byteLength, 0);

function firstFiles({ type, name, sdk }: NewRepo, license: string | undefined): FirstFile[] {
  const card = {
    ...(type === "space" && { title: name.replace(/[-_]+/g, " "), ...(sdk && { sdk }) }),
    ...(license && { license: plainText("license", license, LICENSE_MAX_CHARACTERS) }),
  };
  const lines = Object.entries(card).map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`);
  const readme = { path: "README.md", content: Buffer.from(`---\n${lines.join("")}---\n\n# ${name}\n`) };
  return [{ path: ".gitattributes", content: Buffer.from(usualLfsAttributes()) }, ...(lines.length > 0 ? [readme] : [])];
}
