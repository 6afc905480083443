import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { db } from "../../db.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { isId } from "../../ids.ts";
import { type Page, type PageRequest, pageBounds } from "../page.ts";

export const userStates = ["operator", "disabled", "unverified"] as const;
export type UserState = (typeof userStates)[number];

export type ListedUser = {
  id: string;
  username: string;
  fullName: string;
  email: string;
  avatarId: string | null;
  isOperator: boolean;
  emailVerifiedAt: Date | null;
  disabledAt: Date | null;
  createdAt: Date;
};

type UserSearch = PageRequest & {
  text?: string;
  state?: UserState;
};

const PAGE_SIZE = 30;

const stateWhere: Record<UserState, Prisma.Sql> = {
  operator: Prisma.sql`u.is_operator`,
  disabled: Prisma.sql`u.disabled_at IS NOT NULL`,
  unverified: Prisma.sql`u.email_verified_at IS NULL`,
};

/** IDs begin with the time of their creation, so the primary key sorts users by age. Other indexes serve prefixes. */
export async function listUsers(actor: Actor, { text = "", state, ...request }: UserSearch = {}): Promise<Page<ListedUser>> {
  await requirePermission(actor, "installation.operate", null, { what: "Users" });
  const { page, pageSize, skip, take } = pageBounds({ pageSize: PAGE_SIZE, ...request });
  const where = Prisma.sql`${textWhere(text)} AND ${state ? stateWhere[state] : Prisma.sql`TRUE`}`;
  // With the plain order, Postgres would scan the index of IDs for a search by name.
  const order = text.trim() === "" ? Prisma.sql`u.id` : Prisma.sql`u.id COLLATE "C"`;
  const [[count], items] = await Promise.all([
    db().$queryRaw<{ total: number }[]>`SELECT count(*)::int AS total FROM "user" u WHERE ${where}`,
    db().$queryRaw<ListedUser[]>`
      SELECT u.id, u.username, u.full_name AS "fullName", u.email, u.avatar_id AS "avatarId", u.is_operator AS "isOperator",
             u.email_verified_at AS "emailVerifiedAt", u.disabled_at AS "disabledAt", u.created_at AS "createdAt"
        FROM "user" u WHERE ${where} ORDER BY ${order} DESC LIMIT ${take} OFFSET ${skip}`,
  ]);
  return { page, pageSize, total: count?.total ?? 0, items };
}

function textWhere(text: string): Prisma.Sql {
  const plain: string = text.replaceAll("\0", "").toWellFormed().trim().toLowerCase();
  if (plain === "") return Prisma.sql`TRUE`;
  const isWhole: boolean = isId(plain);
  if (isWhole) return Prisma.sql`u.id = ${plain}`;
  const prefix = `${plain.replace(/[\\%_]/g, "\\$&")}%`;
  return Prisma.sql`(lower(u.username) LIKE ${prefix} OR lower(u.full_name) LIKE ${prefix} OR lower(u.email_canonical) LIKE ${prefix})`;
}
