"use server";

import { type RepoType, repoPath } from "@keyhook/sdk";
import { redirect } from "next/navigation";
import { createBranch } from "#core/hub/git/write/create-branch.ts";
import { createTag } from "#core/hub/git/write/create-tag.ts";
import { deleteBranch } from "#core/hub/git/write/delete-branch.ts";
import { deleteTag } from "#core/hub/git/write/delete-tag.ts";
import type { FormState } from "../../../../../_components/form-state.ts";
import { submitForm } from "../../../../../_server/form.ts";
import { givenText } from "../../../../../_server/path-segment.ts";
import { submittedRepoName } from "../../../../../_server/repo-page.ts";
import { requirePerson } from "../../../../../_server/session.ts";

/** Which repository a form is about; bound to its action, and checked by core like any other name. */
export type RefTarget = Readonly<{ type: RepoType; owner: string; name: string; ref?: string }>;

function pageOf(target: RefTarget, page: "branches" | "tags"): string {
  const { type, owner, name } = submittedRepoName(target);
  return `${repoPath(type, `${owner}/${name}`)}/${page}`;
}

export async function createBranchAction(target: RefTarget, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const page = pageOf(target, "branches");
    const [branch, startingPoint] = [form.text("branch").trim(), form.text("startingPoint").trim()];
    await createBranch(await requirePerson(page), target, { branch, ...(startingPoint && { startingPoint }) });
    redirect(page);
  });
}

export async function deleteBranchAction(target: RefTarget, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async () => {
    const page = pageOf(target, "branches");
    await deleteBranch(await requirePerson(page), target, givenText(target.ref));
    redirect(page);
  });
}

export async function createTagAction(target: RefTarget, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const page = pageOf(target, "tags");
    const [tag, revision, message] = [form.text("tag").trim(), form.text("revision").trim(), form.text("message")];
    await createTag(await requirePerson(page), target, { tag, message, ...(revision && { revision }) });
    redirect(page);
  });
}

export async function deleteTagAction(target: RefTarget, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async () => {
    const page = pageOf(target, "tags");
    await deleteTag(await requirePerson(page), target, givenText(target.ref));
    redirect(page);
  });
}
