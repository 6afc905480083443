"use server";

import { revalidatePath } from "next/cache";
import { redirect } from "next/navigation";
import { ServiceError } from "#core/errors.ts";
import { deleteRepo } from "#core/hub/repos/delete-repo.ts";
import { findRepo, type RepoName } from "#core/hub/repos/find-repo.ts";
import { moveRepo } from "#core/hub/repos/move-repo.ts";
import { updateRepoSettings } from "#core/hub/repos/update-repo-settings.ts";
import type { FormState } from "../../../../../_components/form-state.ts";
import { submitForm } from "../../../../../_server/form.ts";
import { repoHref, submittedRepoName } from "../../../../../_server/repo-page.ts";
import { requestOrigin } from "../../../../../_server/request-origin.ts";
import { requirePerson } from "../../../../../_server/session.ts";
import type { SubmittedForm } from "../../../../../_server/submitted-form.ts";

type Settings = Parameters<typeof updateRepoSettings>[2];

/** The settings of each card, read from its form; the fields have the names that core's messages have. */
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

/** @param wanted names the repository, as each action here takes it; whether the person may is core's decision. */
export async function updateRepoAction(
  wanted: RepoName,
  card: SettingsCard,
  _previous: FormState,
  data: FormData,
): Promise<FormState> {
  return submitForm(data, async (form) => {
    const [person, name] = [await requirePerson("/"), submittedRepoName(wanted)];
    if (!Object.hasOwn(cards, card)) throw new ServiceError("invalid_request", "This form was not understood.");
    await updateRepoSettings(person, name, cards[card](form), await requestOrigin());
    // The header shows most of it.
    revalidatePath("/", "layout");
    return { message: "Saved." };
  });
}

export async function moveRepoAction(wanted: RepoName, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const [person, name] = [await requirePerson("/"), submittedRepoName(wanted)];
    const repo = await moveRepo(person, name, { owner: form.text("owner"), name: form.text("name") }, await requestOrigin());
    redirect(`${repoHref(repo, "settings")}?notice=moved`);
  });
}

export async function deleteRepoAction(wanted: RepoName, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const [person, name] = [await requirePerson("/"), submittedRepoName(wanted)];
    const repo = await findRepo(person, name, "repo.manage");
    if (form.text("confirmation") !== repo.fullName) {
      throw new ServiceError("invalid_request", `Type ${repo.fullName} to delete it.`, { field: "confirmation" });
    }
    await deleteRepo(person, name, await requestOrigin());
    redirect(`/${repo.owner.handle}?notice=deleted`);
  });
}
