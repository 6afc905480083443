import type { JobSpec } from "@keyhook/sdk";
import type { Actor } from "../../access/actor.ts";
import { may } from "../../access/may.ts";
import type { Resources } from "../../access/rule.ts";
import type { Db } from "../../db.ts";
import { env } from "../../env.ts";
import { conflict, invalidRequest, notFound } from "../../errors.ts";
import { findFlavor, flavors } from "../flavors.ts";
import { requireImage } from "../image-reference.ts";
import type { StoredSpec } from "./run.ts";

/** Far below the kernel's limit (S138). */
const TEXT_MAX_BYTES = 512 * 1024;

export function requireOffered(spec: JobSpec, secrets: Readonly<Record<string, string>> = {}): void {
  if (Boolean(spec.dockerImage) === Boolean(spec.spaceId))
    throw invalidRequest("Enter either an image or a Space.", "dockerImage");
  if (spec.dockerImage !== undefined) requireImage(spec.dockerImage);
  if (!findFlavor(spec.flavor)) {
    const offered = flavors().map(({ name }) => name);
    throw invalidRequest(`The flavor ${spec.flavor} does not exist. Choose from: ${offered.join(", ")}.`, "flavor");
  }
  if (spec.network && env().JOBS_NETWORK !== "1") {
    const sentence = "Jobs have no network access on this server. The operator can enable it (JOBS_NETWORK).";
    throw invalidRequest(sentence, "network");
  }
  const size = Buffer.byteLength(JSON.stringify([spec.command, spec.arguments, spec.environment, secrets]));
  if (size > TEXT_MAX_BYTES) {
    const sentence = `The command, environment and secrets have ${size.toLocaleString("en")} bytes in total, but at most ${TEXT_MAX_BYTES.toLocaleString("en")} are allowed. Put large data into a Space's files.`;
    throw invalidRequest(sentence, "environment");
  }
}

/**
 * A run reads with its account's rights, so the token's own rights are checked here. An unreadable Space looks missing (S136).
 * @returns the spec with the named Space
 * @throws ServiceError `conflict` if `spec.space` no longer has the name, or has another owner
 */
export async function requireSpace(tx: Db, actor: Actor, spec: StoredSpec): Promise<StoredSpec> {
  const { spaceId } = spec;
  if (spaceId === undefined) return spec;
  const [handle = "", name = ""] = spaceId.toLowerCase().split("/");
  const [space] = await tx.$queryRaw<Resources["repo"][]>`
    SELECT r.id AS "repoId", r.is_private AS "isPrivate", r.gated <> 'none' AS "isGated",
      r.created_by_id AS "createdById", r.created_by_client_id AS "createdByClientId",
      CASE WHEN r.owner_kind = 'user' THEN r.owner_id END AS "ownerUserId",
      CASE WHEN r.owner_kind = 'organization' THEN r.owner_id END AS "ownerOrgId"
    FROM handle h
    LEFT JOIN repo_former_name f ON f.owner_id = coalesce(h.user_id, h.org_id) AND f.type = 'space' AND f.name_canonical = ${name}
    JOIN repo r ON r.type = 'space'
      AND ((r.owner_id = coalesce(h.user_id, h.org_id) AND r.name_canonical = ${name}) OR r.id = f.repo_id)
    WHERE h.handle = ${handle} ORDER BY (r.id IS NOT DISTINCT FROM f.repo_id) LIMIT 1`;
  if (!space || !(await may(actor, "repo.read_content", space, tx))) throw notFound("Space");
  const named = { repoId: space.repoId, ownerId: (space.ownerUserId ?? space.ownerOrgId) as string };
  if (spec.space && !isSameSpace(spec.space, named)) throw conflict(replaced(spaceId));
  return { ...spec, space: named };
}

type NamedSpace = NonNullable<StoredSpec["space"]>;

export const isSameSpace = (one: NamedSpace, other: NamedSpace): boolean =>
  one.repoId === other.repoId && one.ownerId === other.ownerId;

export const replaced = (spaceId: string): string =>
  `${spaceId} is no longer the Space that this job was created with: another Space has the name now, or the Space has another owner. Create the job again.`;
