"use server";

import { type RepoType, repoTypes } from "@keyhook/sdk";
import { redirect } from "next/navigation";
import { ServiceError } from "#core/errors.ts";
import { addItem } from "#core/hub/collections/add-item.ts";
import { type Collection, collectionPath } from "#core/hub/collections/collection.ts";
import { createCollection } from "#core/hub/collections/create-collection.ts";
import { deleteCollection } from "#core/hub/collections/delete-collection.ts";
import { findCollection } from "#core/hub/collections/find-collection.ts";
import { removeItem } from "#core/hub/collections/remove-item.ts";
import { updateCollection } from "#core/hub/collections/update-collection.ts";
import { updateItem } from "#core/hub/collections/update-item.ts";
import type { FormState } from "../_components/form-state.ts";
import { submitForm } from "../_server/form.ts";
import { requestOrigin } from "../_server/request-origin.ts";
import { requirePerson } from "../_server/session.ts";
import type { SubmittedForm } from "../_server/submitted-form.ts";
import { COLLECTIONS_PATH, collectionsPath, editCollectionPath, newCollectionPath } from "./collections-path.ts";

export async function createCollectionAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const person = await requirePerson(newCollectionPath());
    const input = { owner: form.text("owner"), ...fieldsOf(form) };
    const { outcome, collection } = await createCollection(person, input, await requestOrigin());
    if (outcome === "exists") return { errors: { title: `${collection.owner.handle} has a collection of this title.` } };
    redirect(editCollectionPath(collection, "created"));
  });
}

export async function updateCollectionAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const person = await requirePerson(COLLECTIONS_PATH);
    redirect(
      editCollectionPath(await updateCollection(person, form.text("slug"), fieldsOf(form), await requestOrigin()), "saved"),
    );
  });
}

export async function placeCollectionAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const person = await requirePerson(COLLECTIONS_PATH);
    // People count from one.
    const position = Math.max(Number(form.text("place")) - 1, 0);
    if (!Number.isInteger(position)) throw new ServiceError("invalid_request", "Give a whole number.", { field: "place" });
    redirect(
      editCollectionPath(await updateCollection(person, form.text("slug"), { position }, await requestOrigin()), "placed"),
    );
  });
}

export async function deleteCollectionAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const person = await requirePerson(COLLECTIONS_PATH);
    const { owner } = await deleteCollection(person, form.text("slug"), await requestOrigin());
    redirect(collectionsPath({ owner: owner.handle }));
  });
}

export async function addItemAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const collection = await addFrom(form);
    redirect(editCollectionPath(collection, "added"));
  });
}

/** From the page of a repository: the collection is what one sees next. */
export async function addToCollectionAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => redirect(collectionPath(await addFrom(form))));
}

async function addFrom(form: SubmittedForm): Promise<Collection> {
  const person = await requirePerson(COLLECTIONS_PATH);
  // A repository's address is taken too: people copy it from the line above the page.
  const [name = "", owner = "", ...before] = form
    .text("repo")
    .replace(/(?<!\/)\/+$/, "")
    .split("/")
    .reverse();
  if (!name || !owner || (before.length > 0 && !/^https?:\/\//.test(form.text("repo")))) {
    throw new ServiceError("invalid_request", "Write its owner and its name: owner/name.", { field: "repo" });
  }
  const repo = { type: typeOf(form.text("type")), owner, name };
  try {
    return await addItem(person, form.text("slug"), { repo, note: form.text("note") });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    // Beside the field in which it can be put right.
    if (error.wireCode === "RepoNotFound") {
      throw new ServiceError("not_found", `There is no ${repo.type} of this name that you can see.`, { field: "repo" });
    }
    throw error.field === "item" ? new ServiceError(error.code, error.message, { field: "repo" }) : error;
  }
}

function typeOf(text: string): RepoType {
  const type = repoTypes.find((one) => one === text);
  if (!type) throw new ServiceError("invalid_request", "Choose model, dataset or Space.", { field: "type" });
  return type;
}

export async function updateItemAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const person = await requirePerson(COLLECTIONS_PATH);
    const [slug, itemId, position] = [form.text("slug"), form.text("item"), form.text("position")];
    await updateItem(person, slug, itemId, {
      ...(form.has("note") && { note: form.text("note") }),
      ...(position !== "" && { position: Number(position) }),
    });
    redirect(editCollectionPath(await findCollection(person, slug), position === "" ? "saved" : "moved"));
  });
}

export async function removeItemAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const person = await requirePerson(COLLECTIONS_PATH);
    await removeItem(person, form.text("slug"), form.text("item"));
    redirect(editCollectionPath(await findCollection(person, form.text("slug")), "removed"));
  });
}

const fieldsOf = (form: SubmittedForm) => ({
  title: form.text("title"),
  description: form.text("description"),
  theme: form.text("theme"),
  isPrivate: form.text("visibility") === "private",
});
