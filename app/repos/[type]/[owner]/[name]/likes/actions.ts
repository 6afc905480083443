"use server";

import { setLike } from "#core/hub/repos/likes.ts";
import { formAction, text } from "../../../../../_server/form-action.ts";
import { refreshOrRedirect } from "../../../../../_server/refresh-or-redirect.ts";
import { repoAt } from "../../../../../_server/scopes.ts";

export const likeAction = formAction(repoAt(), { like: text }, async ({ person, repo, page, input }) => {
  await setLike(person, repo, input.like === "1");
  return refreshOrRedirect(page);
});
