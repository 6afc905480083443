"use server";

import { revalidatePath } from "next/cache";
import { redirect } from "next/navigation";
import { addIdentityProvider } from "#core/accounts/identity-providers/add-identity-provider.ts";
import { disableIdentityProvider, enableIdentityProvider } from "#core/accounts/identity-providers/disable-identity-provider.ts";
import { removeIdentityProvider } from "#core/accounts/identity-providers/remove-identity-provider.ts";
import { updateIdentityProvider } from "#core/accounts/identity-providers/update-identity-provider.ts";
import type { FormState } from "../../_components/form-state.ts";
import { submitForm } from "../../_server/form.ts";
import { requireOperator } from "../../_server/operator-page.ts";
import { givenText } from "../../_server/path-segment.ts";
import { requestOrigin } from "../../_server/request-origin.ts";
import type { SubmittedForm } from "../../_server/submitted-form.ts";

const PAGE = "/admin/identity-providers";

const scopesOf = (form: SubmittedForm) => form.text("scopes").split(/\s+/).filter(Boolean);

export async function addProviderAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async (form) => {
      const operator = await requireOperator(PAGE);
      const input = {
        orgId: null,
        kind: form.text("kind"),
        slug: form.text("slug"),
        name: form.text("name"),
        issuer: form.text("issuer"),
        clientId: form.text("clientId"),
        clientSecret: form.text("clientSecret"),
        scopes: scopesOf(form),
        isSignUpAllowed: form.isTicked("isSignUpAllowed"),
      };
      const { name } = await addIdentityProvider(operator, input, await requestOrigin());
      revalidatePath(PAGE);
      return { message: `People can sign in with ${name} now.`, values: {} };
    },
    { page: PAGE },
  );
}

export async function updateProviderAction(slug: string, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async (form) => {
      const operator = await requireOperator(PAGE);
      const changes = {
        name: form.text("name"),
        clientId: form.text("clientId"),
        clientSecret: form.text("clientSecret"),
        scopes: scopesOf(form),
        isSignUpAllowed: form.isTicked("isSignUpAllowed"),
      };
      await updateIdentityProvider(operator, givenText(slug), changes, await requestOrigin());
      revalidatePath(PAGE);
      return { message: "Saved." };
    },
    { page: PAGE },
  );
}

export async function switchProviderAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async (form) => {
      const operator = await requireOperator(PAGE);
      const change = form.text("to") === "off" ? disableIdentityProvider : enableIdentityProvider;
      await change(operator, form.text("provider"), await requestOrigin());
      revalidatePath(PAGE);
      return undefined;
    },
    { page: PAGE },
  );
}

export async function removeProviderAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async (form) => {
      await removeIdentityProvider(await requireOperator(PAGE), form.text("provider"), await requestOrigin());
      redirect(`${PAGE}?notice=removed`);
    },
    { page: PAGE },
  );
}
