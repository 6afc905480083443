"use server";

import { repoTypes } from "@keyhook/sdk";
import { redirect } from "next/navigation";
import type { Person } from "#core/access/actor.ts";
import { ServiceError } from "#core/errors.ts";
import { createCollection, deleteCollection, updateCollection } from "#core/hub/collections/change-collections.ts";
import { type Collection, collectionPath, ITEMS_MAX } from "#core/hub/collections/collection.ts";
import { findCollection } from "#core/hub/collections/find-collection.ts";
import { addItem, removeItem, updateItem } from "#core/hub/collections/items.ts";
import type { RepoName } from "#core/hub/repos/find-repo.ts";
import { formAction, type Input, text } from "../_server/form-action.ts";
import { personAt } from "../_server/scopes.ts";
import type { SubmittedForm } from "../_server/submitted-form.ts";
import { COLLECTIONS_PATH, collectionsPath, editCollectionPath, newCollectionPath } from "./collections-path.ts";

const scope = personAt(COLLECTIONS_PATH);

const about = {
  title: text,
  description: text,
  theme: text,
  isPrivate: (form: SubmittedForm) => form.text("visibility") === "private",
};

export const createCollectionAction = formAction(
  personAt(newCollectionPath()),
  { ...about, owner: text },
  async ({ person, input, from }) => {
    const { outcome, collection } = await createCollection(person, input, from);
    if (outcome === "exists")
      return { errors: { title: `${collection.owner.handle} already has a collection with this title. Choose another title.` } };
    redirect(editCollectionPath(collection, { notice: "created" }));
  },
);

export const updateCollectionAction = formAction(
  scope,
  { ...about, slug: text },
  async ({ person, input: { slug, ...changes }, from }) => {
    redirect(editCollectionPath(await updateCollection(person, slug, changes, from), { notice: "saved" }));
  },
);

export const moveCollectionAction = formAction(
  scope,
  { slug: text, place: positionOf },
  async ({ person, input: { slug, place }, from }) => {
    redirect(editCollectionPath(await updateCollection(person, slug, { position: place }, from), { notice: "placed" }));
  },
);

export const deleteCollectionAction = formAction(scope, { slug: text }, async ({ person, input, from }) => {
  const { owner } = await deleteCollection(person, input.slug, from);
  redirect(collectionsPath({ owner: owner.handle }));
});

const item = { slug: text, type: typeOf, repo: ownerAndName, note: text };

export const addItemAction = formAction(scope, item, async ({ person, input }) => {
  redirect(editCollectionPath(await add(person, input), { notice: "added", position: ITEMS_MAX }));
});

export const addToCollectionAction = formAction(scope, item, async ({ person, input }) => {
  redirect(collectionPath(await add(person, input)));
});

async function add(person: Person, { slug, type, repo, note }: Input<typeof item>): Promise<Collection> {
  try {
    return await addItem(person, slug, { repo: { type, ...repo }, note });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (error.wireCode === "RepoNotFound") {
      throw new ServiceError("not_found", `There is no ${type === "space" ? "Space" : type} with this name that you can see.`, {
        field: "repo",
      });
    }
    throw error.field === "item" ? new ServiceError(error.code, error.message, { field: "repo" }) : error;
  }
}

export const updateItemAction = formAction(
  scope,
  {
    slug: text,
    item: text,
    position: text,
    note: (form) => (form.has("note") ? form.text("note") : undefined),
  },
  async ({ person, input: { slug, item, position, note } }) => {
    const updated = await updateItem(person, slug, item, {
      ...(note !== undefined && { note }),
      ...(position !== "" && { position: Number(position) }),
    });
    const notice = position === "" ? "saved" : "moved";
    redirect(editCollectionPath(await findCollection(person, slug), { notice, position: updated.position }));
  },
);

export const removeItemAction = formAction(scope, { slug: text, item: text }, async ({ person, input }) => {
  const { position } = await removeItem(person, input.slug, input.item);
  redirect(editCollectionPath(await findCollection(person, input.slug), { notice: "removed", position }));
});

/** core counts from zero, users from one. */
function positionOf(form: SubmittedForm): number {
  const position = Math.max(Number(form.text("place")) - 1, 0);
  if (!Number.isInteger(position)) throw new ServiceError("invalid_request", "Enter a whole number.", { field: "place" });
  return position;
}

function typeOf(form: SubmittedForm): RepoName["type"] {
  const type = repoTypes.find((one) => one === form.text("type"));
  if (!type) throw new ServiceError("invalid_request", "Choose model, dataset or Space.", { field: "type" });
  return type;
}

/** Accepts a repository's URL too, because users copy the URL from the address bar. */
function ownerAndName(form: SubmittedForm): Omit<RepoName, "type"> {
  const text = form.text("repo");
  const [name = "", owner = "", ...before] = text
    .replace(/(?<!\/)\/+$/, "")
    .split("/")
    .reverse();
  if (!name || !owner || (before.length > 0 && !/^https?:\/\//.test(text))) {
    throw new ServiceError("invalid_request", "Enter the owner and the name as owner/name.", { field: "repo" });
  }
  return { owner, name };
}
