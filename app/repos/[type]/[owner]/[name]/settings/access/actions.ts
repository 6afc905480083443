"use server";

import { redirect } from "next/navigation";
import { decideAccessRequest } from "#core/hub/gates/decide-access-request.ts";
import { grantAccess } from "#core/hub/gates/grant-access.ts";
import { findRepo, type RepoName } from "#core/hub/repos/find-repo.ts";
import type { FormState } from "../../../../../../_components/form-state.ts";
import { submitForm } from "../../../../../../_server/form.ts";
import { repoHref, submittedRepoName } from "../../../../../../_server/repo-page.ts";
import { requestOrigin } from "../../../../../../_server/request-origin.ts";
import { requirePerson } from "../../../../../../_server/session.ts";

/** @param wanted names the repository, as each action here takes it; whether the person may is core's decision. */
export async function decideAction(wanted: RepoName, userId: string, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const [person, name] = [await requirePerson("/"), submittedRepoName(wanted)];
    const [status, rejectionReason] = [form.text("status"), form.optional("rejectionReason")];
    await decideAccessRequest(person, name, { userId, status, rejectionReason }, await requestOrigin());
    redirect(`${await listHref(person, name)}?${new URLSearchParams({ notice: status, list: form.text("list") })}`);
  });
}

export async function grantAction(wanted: RepoName, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const [person, name] = [await requirePerson("/"), submittedRepoName(wanted)];
    await grantAccess(person, name, { user: form.text("user") }, await requestOrigin());
    redirect(`${await listHref(person, name)}?notice=granted&list=accepted`);
  });
}

async function listHref(person: Awaited<ReturnType<typeof requirePerson>>, name: RepoName): Promise<string> {
  return repoHref(await findRepo(person, name), "settings", "access");
}
