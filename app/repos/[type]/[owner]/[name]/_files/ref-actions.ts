"use server";

import { redirect } from "next/navigation";
import { createBranch, createTag, deleteBranch, deleteTag } from "#core/hub/git/write/branches-and-tags.ts";
import { formAction, text } from "../../../../../_server/form-action.ts";
import { givenText } from "../../../../../_server/paths.ts";
import { repoAt } from "../../../../../_server/scopes.ts";
import { personLookup } from "../../../../../_server/session.ts";

export const createBranchAction = formAction(
  repoAt("/branches"),
  { branch: text, startingPoint: text },
  async ({ person, repo, page, input: { branch, startingPoint } }) => {
    await createBranch(person, repo, { branch, ...(startingPoint && { startingPoint }) }, await personLookup());
    redirect(page);
  },
);

export const deleteBranchAction = formAction(repoAt("/branches"), {}, async ({ person, repo, page }, branch: string) => {
  await deleteBranch(person, repo, givenText(branch), await personLookup());
  redirect(page);
});

export const createTagAction = formAction(
  repoAt("/tags"),
  { tag: text, revision: text, message: text },
  async ({ person, repo, page, input: { tag, revision, message } }) => {
    await createTag(person, repo, { tag, message, ...(revision && { revision }) }, await personLookup());
    redirect(page);
  },
);

export const deleteTagAction = formAction(repoAt("/tags"), {}, async ({ person, repo, page }, tag: string) => {
  await deleteTag(person, repo, givenText(tag), await personLookup());
  redirect(page);
});
