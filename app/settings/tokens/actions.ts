"use server";

import { redirect } from "next/navigation";
import { createPersonalAccessToken } from "#core/accounts/tokens/create-personal-access-token.ts";
import { revokePersonalAccessToken } from "#core/accounts/tokens/revoke-personal-access-token.ts";
import type { FormState } from "../../_components/form-state.ts";
import { submitForm } from "../../_server/form.ts";
import { requestOrigin } from "../../_server/request-origin.ts";
import { requirePerson } from "../../_server/session.ts";

const NEW_PAGE = "/settings/tokens/new";

export async function createTokenAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async (form) => {
      const person = await requirePerson(NEW_PAGE);
      const days = form.text("expiresInDays");
      const input = {
        name: form.text("name"),
        scopes: form.all("scopes"),
        expiresInDays: days === "never" ? null : Number(days),
      };
      const { token } = await createPersonalAccessToken(person, person.userId, input, await requestOrigin());
      return { values: { name: input.name }, secret: { label: "Access token", value: token } };
    },
    { page: NEW_PAGE },
  );
}

export async function revokeTokenAction(tokenId: string, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async () => {
    await revokePersonalAccessToken(await requirePerson("/settings/tokens"), tokenId, await requestOrigin());
    redirect("/settings/tokens?notice=revoked");
  });
}
