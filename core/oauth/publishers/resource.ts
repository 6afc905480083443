import { findUserByUsername, type UserProfile } from "#core/accounts/users/find-user.ts";
import { pool } from "#core/db.ts";
import type { CiRequest } from "./answer-ci-exchange.ts";

export type Resource = { repo: ResourceRepo } | { user: UserProfile };

type ResourceRepo = { id: string; type: string; fullName: string; ownerId: string; ownerKind: "user" | "organization" };

const FIND = `SELECT r.id, r.type, coalesce(u.username, o.name) || '/' || r.name AS "fullName", r.owner_id AS "ownerId",
    r.owner_kind AS "ownerKind"
  FROM repo r
  LEFT JOIN "user" u ON r.owner_kind = 'user' AND u.id = r.owner_id
  LEFT JOIN organization o ON r.owner_kind = 'organization' AND o.id = r.owner_id
  WHERE r.owner_id = (SELECT coalesce(user_id, org_id) FROM handle WHERE handle = $1) AND r.type = $2 AND r.name_canonical = $3
    AND u.disabled_at IS NULL`;

/** Ignores former names, which somebody else may take. Checks no permission, because the sender is not identified yet. */
export async function findResource(target: CiRequest["target"]): Promise<Resource | undefined> {
  if ("username" in target) {
    const user = await findUserByUsername(target.username);
    return user && !user.disabledAt ? { user } : undefined;
  }
  const { owner, type, name } = target.repo;
  const values = [owner.toLowerCase(), type, name.toLowerCase()];
  const { rows } = await pool().query<ResourceRepo>({ name: "find-ci-resource", text: FIND, values });
  return rows[0] && { repo: rows[0] };
}

export function auditedAs(resource: Resource): { orgId: string | null; subjectId: string | null; data: Record<string, string> } {
  if ("user" in resource) return { orgId: null, subjectId: resource.user.id, data: { username: resource.user.username } };
  const { ownerId, ownerKind, fullName, type } = resource.repo;
  const isOrganizations = ownerKind === "organization";
  return {
    orgId: isOrganizations ? ownerId : null,
    subjectId: isOrganizations ? null : ownerId,
    data: { repo: fullName, type },
  };
}
