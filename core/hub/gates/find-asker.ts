import { findOwner } from "../../accounts/handles/find-owner.ts";
import { db } from "../../db.ts";
import { notFound } from "../../errors.ts";
import { isId } from "../../ids.ts";

/** The user whom a decision is about: by username or by id. */
export type Asker = { user?: string | undefined; userId?: string | undefined };

/** @throws ServiceError `not_found` */
export async function findAsker({ user, userId }: Asker): Promise<{ id: string; username: string; email: string }> {
  const owner = user === undefined ? undefined : await findOwner(user);
  const id = owner?.kind === "user" ? owner.id : userId;
  const found =
    id && isId(id)
      ? await db().user.findUnique({ where: { id, disabledAt: null }, select: { id: true, username: true, email: true } })
      : null;
  if (!found) throw notFound("User");
  return found;
}
