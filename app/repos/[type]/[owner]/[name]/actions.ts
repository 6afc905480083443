"use server";

import { redirect } from "next/navigation";
import { askForAccess } from "#core/hub/gates/ask-for-access.ts";
import { withdrawAccessRequest } from "#core/hub/gates/withdraw-access-request.ts";
import { findRepo, type RepoName } from "#core/hub/repos/find-repo.ts";
import type { FormState } from "../../../../_components/form-state.ts";
import { submitForm } from "../../../../_server/form.ts";
import { repoHref, submittedRepoName } from "../../../../_server/repo-page.ts";
import { requestOrigin } from "../../../../_server/request-origin.ts";
import { requirePerson } from "../../../../_server/session.ts";

/** @param wanted names the repository, as each action here takes it; whether the person may is core's decision. */
export async function askForAccessAction(wanted: RepoName, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const [person, name] = [await requirePerson("/"), submittedRepoName(wanted)];
    const status = await askForAccess(person, name, { message: form.optional("message") }, await requestOrigin());
    const repo = await findRepo(person, name);
    redirect(`${repoHref(repo)}?notice=${status === "accepted" ? "granted" : "asked"}`);
  });
}

export async function withdrawAccessRequestAction(wanted: RepoName, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async () => {
    const [person, name] = [await requirePerson("/"), submittedRepoName(wanted)];
    const repo = await findRepo(person, name);
    await withdrawAccessRequest(person, repo.id, await requestOrigin());
    redirect(`${repoHref(repo)}?notice=withdrawn`);
  });
}
