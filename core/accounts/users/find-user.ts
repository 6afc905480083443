import { type Db, db } from "../../db.ts";
import { notFound } from "../../errors.ts";
import { isId } from "../../ids.ts";

export type UserProfile = {
  id: string;
  username: string;
  fullName: string;
  email: string;
  emailVerifiedAt: Date | null;
  website: string | null;
  avatarId: string | null;
  isOperator: boolean;
  disabledAt: Date | null;
  createdAt: Date;
};

const profileColumns = {
  id: true,
  username: true,
  fullName: true,
  email: true,
  emailVerifiedAt: true,
  website: true,
  avatarId: true,
  isOperator: true,
  disabledAt: true,
  createdAt: true,
} as const;

export async function findUser(id: string): Promise<UserProfile | undefined> {
  if (!isId(id)) return undefined;
  return (await db().user.findUnique({ where: { id }, select: profileColumns })) ?? undefined;
}

export async function findUserByUsername(username: string): Promise<UserProfile | undefined> {
  if (username.includes("\0")) return undefined;
  const row = await db().handle.findUnique({ where: { handle: username.toLowerCase() }, select: { userId: true } });
  return row?.userId ? findUser(row.userId) : undefined;
}

/** Call this before you give a user something that disabling the user takes away. */
export async function lockLiveUser(tx: Db, userId: string): Promise<void> {
  const live = await tx.$queryRaw<unknown[]>`SELECT 1 FROM "user" WHERE id = ${userId} AND disabled_at IS NULL FOR NO KEY UPDATE`;
  if (live.length === 0) throw notFound("User");
}
