"use server";

import { revalidatePath } from "next/cache";
import { redirect } from "next/navigation";
import {
  addIdentityProvider,
  disableIdentityProvider,
  enableIdentityProvider,
  removeIdentityProvider,
  updateIdentityProvider,
} from "#core/accounts/identity-providers/manage-identity-providers.ts";
import { formAction, text, ticked } from "../../_server/form-action.ts";
import { givenText } from "../../_server/paths.ts";
import { operatorAt } from "../../_server/scopes.ts";
import type { SubmittedForm } from "../../_server/submitted-form.ts";

const PAGE = "/admin/identity-providers";
const scope = operatorAt(PAGE);

const changeable = {
  name: text,
  clientId: text,
  clientSecret: text,
  scopes: (form: SubmittedForm) => form.text("scopes").split(/\s+/).filter(Boolean),
  isSignUpAllowed: ticked,
};

export const addProviderAction = formAction(
  scope,
  { ...changeable, kind: text, slug: text, issuer: text },
  async ({ operator, input, from }) => {
    const { name } = await addIdentityProvider(operator, { ...input, orgId: null }, from);
    revalidatePath(PAGE);
    return { message: `The sign-in page now offers ${name}.`, values: {} };
  },
);

export const updateProviderAction = formAction(scope, changeable, async ({ operator, input, from }, slug: string) => {
  await updateIdentityProvider(operator, givenText(slug), input, from);
  revalidatePath(PAGE);
  return { message: "Saved." };
});

export const switchProviderAction = formAction(scope, { provider: text, to: text }, async ({ operator, input, from }) => {
  const change = input.to === "off" ? disableIdentityProvider : enableIdentityProvider;
  await change(operator, input.provider, from);
  revalidatePath(PAGE);
  return undefined;
});

export const removeProviderAction = formAction(scope, { provider: text }, async ({ operator, input, from }) => {
  await removeIdentityProvider(operator, input.provider, from);
  redirect(`${PAGE}?notice=removed`);
});
