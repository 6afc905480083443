"use server";

import { revalidatePath } from "next/cache";
import { redirect } from "next/navigation";
import type { Person } from "#core/access/actor.ts";
import { ServiceError } from "#core/errors.ts";
import { askForAccess, withdrawAccessRequest } from "#core/hub/gates/ask-for-access.ts";
import { decideAccessRequest, grantAccess } from "#core/hub/gates/decide-access-request.ts";
import { deleteRepo } from "#core/hub/repos/change-repo.ts";
import { findRepo, type RepoName } from "#core/hub/repos/find-repo.ts";
import { moveRepo } from "#core/hub/repos/move-repo.ts";
import { updateRepoSettings } from "#core/hub/repos/update-repo-settings.ts";
import { formAction, optional, text } from "../../../../../_server/form-action.ts";
import { repoHref } from "../../../../../_server/repo-page.ts";
import { repoAt } from "../../../../../_server/scopes.ts";
import type { SubmittedForm } from "../../../../../_server/submitted-form.ts";

type Settings = Parameters<typeof updateRepoSettings>[2];

/** The fields have the names that core uses in errors. */
const cards = {
  about: (form: SubmittedForm): Settings => ({
    description: form.text("description"),
    ...(form.has("sdk") && { sdk: form.text("sdk") }),
  }),
  visibility: (form: SubmittedForm): Settings => ({ isPrivate: form.text("private") === "true" }),
  gate: (form: SubmittedForm): Settings => ({ gated: form.text("gated"), gatePrompt: form.text("gatePrompt") }),
  branch: (form: SubmittedForm): Settings => ({ defaultBranch: form.text("defaultBranch") }),
  protection: (form: SubmittedForm): Settings => ({
    isDefaultBranchProtected: form.isTicked("defaultBranchProtected"),
    isReadOnly: form.isTicked("readOnly"),
  }),
  discussions: (form: SubmittedForm): Settings => ({ hasDiscussions: form.isTicked("discussions") }),
} as const;

export type SettingsCard = keyof typeof cards;

const scope = repoAt("/settings");

export const updateRepoAction = formAction(scope, cards, async ({ person, repo, input, from }, card: SettingsCard) => {
  if (!Object.hasOwn(cards, card))
    throw new ServiceError("invalid_request", "This form could not be read. Reload the page and try again.");
  await updateRepoSettings(person, repo, input[card], from);
  // The header shows most of the settings.
  revalidatePath("/", "layout");
  return { message: "Saved." };
});

export const moveRepoAction = formAction(scope, { owner: text, name: text }, async ({ person, repo, input, from }) => {
  const moved = await moveRepo(person, repo, input, from);
  redirect(`${repoHref(moved, "settings")}?notice=moved`);
});

export const deleteRepoAction = formAction(scope, { confirmation: text }, async ({ person, repo, input, from }) => {
  const found = await findRepo(person, repo, "repo.manage");
  if (input.confirmation !== found.fullName) {
    throw new ServiceError("invalid_request", `Type ${found.fullName} to delete it.`, { field: "confirmation" });
  }
  await deleteRepo(person, repo, from);
  redirect(`/${found.owner.handle}?notice=deleted`);
});

const accessScope = repoAt("/settings/access");

export const decideAction = formAction(
  accessScope,
  { status: text, rejectionReason: optional, list: text },
  async ({ person, repo, input: { list, ...decision }, from }, userId: string) => {
    await decideAccessRequest(person, repo, { userId, ...decision }, from);
    redirect(`${await listHref(person, repo)}?${new URLSearchParams({ notice: decision.status, list })}`);
  },
);

export const grantAction = formAction(accessScope, { user: text }, async ({ person, repo, input, from }) => {
  await grantAccess(person, repo, input, from);
  redirect(`${await listHref(person, repo)}?notice=granted&list=accepted`);
});

async function listHref(person: Person, name: RepoName): Promise<string> {
  return repoHref(await findRepo(person, name), "settings", "access");
}

export const askForAccessAction = formAction(repoAt(), { message: optional }, async ({ person, repo, input, from }) => {
  const status = await askForAccess(person, repo, input, from);
  redirect(`${repoHref(await findRepo(person, repo))}?notice=${status === "accepted" ? "granted" : "asked"}`);
});

export const withdrawAccessRequestAction = formAction(repoAt(), {}, async ({ person, repo, from }) => {
  const found = await findRepo(person, repo);
  await withdrawAccessRequest(person, found.id, from);
  redirect(`${repoHref(found)}?notice=withdrawn`);
});
