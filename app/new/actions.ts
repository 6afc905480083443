"use server";

import type { RepoType } from "@keyhook/sdk";
import { redirect } from "next/navigation";
import { createRepoWithFiles } from "#core/hub/repos/create-repo.ts";
import { formAction, text } from "../_server/form-action.ts";
import { repoHref } from "../_server/repo-page.ts";
import { personAt } from "../_server/scopes.ts";

export const createRepoAction = formAction(
  personAt("/new"),
  {
    // core refuses an unknown type.
    type: (form) => form.text("type") as RepoType,
    owner: text,
    name: text,
    isPrivate: (form) => (form.text("visibility") === "default" ? undefined : form.text("visibility") === "private"),
    autoInit: (form) => !form.has("empty"),
    sdk: (form) => (form.text("type") === "space" && form.text("sdk")) || undefined,
  },
  async ({ person, input: { sdk, ...input }, from }) => {
    const repo = await createRepoWithFiles(person, { ...input, ...(sdk && { sdk }) }, from);
    redirect(`${repoHref(repo)}?notice=created`);
  },
);
