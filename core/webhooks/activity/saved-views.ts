import type { Person } from "../../access/actor.ts";
import { displayText } from "../../accounts/plain-text.ts";
import { db, inTransaction } from "../../db.ts";
import { conflict } from "../../errors.ts";
import { findWebhookRow } from "../manage/find-webhook.ts";

export const SAVED_VIEW_NAME_MAX_CHARACTERS = 40;
/** The limit is per user and webhook (S143). */
export const SAVED_VIEWS_MAX = 20;
const QUERY_MAX_CHARACTERS = 2_000;

/** `query` is the query of the page's URL, which the page checks. */
export type SavedView = { name: string; query: string };

type Of = { ownerId: string };

/** The caller must have checked access. */
export async function listSavedViews({ userId }: Person, webhookId: string): Promise<SavedView[]> {
  return db().savedView.findMany({
    where: { webhookId, userId },
    select: { name: true, query: true },
    orderBy: { name: "asc" },
  });
}

export async function saveView(person: Person, webhookId: string, view: SavedView, { ownerId }: Of): Promise<SavedView> {
  const name = displayText("name", view.name, { maxCharacters: SAVED_VIEW_NAME_MAX_CHARACTERS });
  const query = view.query.slice(0, QUERY_MAX_CHARACTERS);
  return inTransaction(async (tx) => {
    const { id } = await findWebhookRow(person, webhookId, "webhook.read", { ownerId, tx });
    const { userId } = person;
    // The lock makes simultaneous requests of a user count one after the other.
    await tx.$executeRaw`SELECT 1 FROM "user" WHERE id = ${userId} FOR NO KEY UPDATE`;
    const others = await tx.savedView.count({ where: { webhookId: id, userId, name: { not: name } } });
    if (others >= SAVED_VIEWS_MAX) {
      throw conflict(`You already have ${SAVED_VIEWS_MAX} saved views of this webhook. Delete one first.`, "name");
    }
    const key = { webhookId: id, userId, name };
    await tx.savedView.upsert({
      where: { webhookId_userId_name: key },
      create: { ...key, query },
      update: { query },
    });
    return { name, query };
  });
}

export async function deleteView(person: Person, webhookId: string, name: string, { ownerId }: Of): Promise<void> {
  const { id } = await findWebhookRow(person, webhookId, "webhook.read", { ownerId });
  await db().savedView.deleteMany({ where: { webhookId: id, userId: person.userId, name } });
}
