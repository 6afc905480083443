"use server";

import { revalidatePath } from "next/cache";
import { redirect } from "next/navigation";
import { isServiceError } from "#core/errors.ts";
import { removeKeys } from "#core/oauth/apps/remove-keys.ts";
import { setKeys } from "#core/oauth/apps/set-keys.ts";
import { updateApp } from "#core/oauth/apps/update-app.ts";
import { hasPrivateKey } from "#core/oauth/client-keys.ts";
import type { FormState } from "../../_components/form-state.ts";
import { changeAppForm } from "./change-app-form.ts";

export async function updateRequirementsAction(appId: string, _previous: FormState, data: FormData): Promise<FormState> {
  return changeAppForm(appId, data, async ({ form, person, from, page }) => {
    const changes = { isParRequired: form.isTicked("isParRequired"), isDpopRequired: form.isTicked("isDpopRequired") };
    await updateApp(person, appId, changes, from);
    revalidatePath(page);
    return { message: "Saved.", values: {} };
  });
}

export async function setKeysAction(appId: string, _previous: FormState, data: FormData): Promise<FormState> {
  return changeAppForm(appId, data, async ({ form, person, from, page }) => {
    const input = { jwks: form.text("jwks"), jwksUri: form.text("jwksUri") };
    try {
      await setKeys(person, appId, input, from);
    } catch (error) {
      // A private key is not shown again: what is on the screen is copied, photographed and kept.
      if (!isServiceError(error) || error.field !== "jwks" || !hasPrivateKey(input.jwks)) throw error;
      return { errors: { jwks: error.message }, values: { jwks: "", jwksUri: input.jwksUri } };
    }
    revalidatePath(page);
    redirect(`${page}?notice=keys-set`);
  });
}

export async function removeKeysAction(appId: string, _previous: FormState, data: FormData): Promise<FormState> {
  return changeAppForm(appId, data, async ({ person, from, page }) => {
    await removeKeys(person, appId, from);
    redirect(`${page}?notice=keys-removed`);
  });
}

export async function updateLogoutUriAction(appId: string, _previous: FormState, data: FormData): Promise<FormState> {
  return changeAppForm(appId, data, async ({ form, person, from, page }) => {
    const app = await updateApp(person, appId, { backchannelLogoutUri: form.optional("backchannelLogoutUri") }, from);
    revalidatePath(page);
    const message = app.backchannelLogoutUri
      ? "Saved. Your server is told of every sign-out from now on."
      : "Saved. Your server is not told of sign-outs.";
    return { message, values: { backchannelLogoutUri: app.backchannelLogoutUri ?? "" } };
  });
}
