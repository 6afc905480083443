import type { SecurityRestriction } from "@keyhook/sdk";
import { db } from "../../../db.ts";

export type OwnRestriction = {
  orgId: string;
  name: string;
  fullName: string;
  /** The rules that the user does not meet there yet. */
  restrictions: SecurityRestriction[];
  /** Where the user can meet `sso`. */
  provider: { slug: string; name: string } | null;
};

// A page lists this many; after meeting these, the user sees the others.
const LIST_MAX_ROWS = 20;

/** The organizations that are closed to one of their members until they meet its sign-in rules. */
export async function listOwnRestrictions(userId: string, orgId: string | null = null): Promise<OwnRestriction[]> {
  const rows = await db().$queryRaw<(Omit<OwnRestriction, "provider"> & { slug: string | null; providerName: string | null })[]>`
    SELECT o.id AS "orgId", o.name, o.full_name AS "fullName", s.restrictions, p.slug, p.name AS "providerName"
      FROM member_standing s
      JOIN organization o ON o.id = s.org_id
      LEFT JOIN identity_provider p ON p.id = o.required_provider_id AND p.disabled_at IS NULL
     WHERE s.user_id = ${userId} AND (${orgId}::text IS NULL OR s.org_id = ${orgId}) AND cardinality(s.restrictions) > 0
     ORDER BY lower(o.name) LIMIT ${LIST_MAX_ROWS}`;
  return rows.map(({ slug, providerName, ...row }) => ({
    ...row,
    provider: slug !== null && providerName !== null ? { slug, name: providerName } : null,
  }));
}
