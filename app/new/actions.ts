"use server";

import { isRepoType } from "@keyhook/sdk";
import { redirect } from "next/navigation";
import { createRepo } from "#core/hub/repos/create-repo.ts";
import type { FormState } from "../_components/form-state.ts";
import { submitForm } from "../_server/form.ts";
import { repoHref } from "../_server/repo-page.ts";
import { requestOrigin } from "../_server/request-origin.ts";
import { requirePerson } from "../_server/session.ts";

export async function createRepoAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const person = await requirePerson("/new");
    const type = form.text("type");
    const repo = await createRepo(
      person,
      {
        // What is no type is refused there.
        type: type as Parameters<typeof createRepo>[1]["type"],
        owner: form.text("owner"),
        name: form.text("name"),
        isPrivate: form.text("visibility") === "private",
        ...(isRepoType(type) && type === "space" && form.text("sdk") && { sdk: form.text("sdk") }),
      },
      await requestOrigin(),
    );
    redirect(`${repoHref(repo)}?notice=created`);
  });
}
