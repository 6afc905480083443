"use server";

import { redirect } from "next/navigation";
import { withdrawAccessRequest } from "#core/hub/gates/withdraw-access-request.ts";
import type { FormState } from "../../_components/form-state.ts";
import { submitForm } from "../../_server/form.ts";
import { givenText } from "../../_server/path-segment.ts";
import { requestOrigin } from "../../_server/request-origin.ts";
import { requirePerson } from "../../_server/session.ts";

export async function withdrawAction(repoId: string, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async () => {
    await withdrawAccessRequest(await requirePerson("/settings/gated-repos"), givenText(repoId), await requestOrigin());
    redirect("/settings/gated-repos?notice=withdrawn");
  });
}
