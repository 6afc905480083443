"use server";

import { revalidatePath } from "next/cache";
import { redirect } from "next/navigation";
import { bindApp } from "#core/oauth/apps/bind-app.ts";
import { requestPrivilege } from "#core/oauth/apps/request-privilege.ts";
import { setTokenDuration } from "#core/oauth/apps/set-token-duration.ts";
import { unbindApp } from "#core/oauth/apps/unbind-app.ts";
import { updateApp } from "#core/oauth/apps/update-app.ts";
import type { FormState } from "../../_components/form-state.ts";
import { appListPath } from "./app-paths.ts";
import { changeAppForm } from "./change-app-form.ts";

export async function bindAction(appId: string, _previous: FormState, data: FormData): Promise<FormState> {
  return changeAppForm(appId, data, async ({ form, person, from, page }) => {
    await bindApp(person, appId, form.text("orgId"), from);
    redirect(`${page}?notice=bound`);
  });
}

export async function unbindAction(appId: string, _previous: FormState, data: FormData): Promise<FormState> {
  return changeAppForm(appId, data, async ({ person, from, page, details }) => {
    await unbindApp(person, appId, from);
    // Somebody else's app is none of the organization's from now on: its page is gone.
    redirect(`${details.isOwner ? page : appListPath(details.boundOrganization?.name ?? null)}?notice=unbound`);
  });
}

export async function requestPrivilegeAction(appId: string, _previous: FormState, data: FormData): Promise<FormState> {
  return changeAppForm(appId, data, async ({ person, from, page }) => {
    await requestPrivilege(person, appId, from);
    redirect(`${page}?notice=privilege-asked`);
  });
}

/** In hours, which is what people think in here; whole days are multiples. */
export async function setTokenDurationAction(appId: string, _previous: FormState, data: FormData): Promise<FormState> {
  return changeAppForm(appId, data, async ({ form, person, from, page }) => {
    const hours = form.text("tokenHours").trim();
    await setTokenDuration(person, appId, /^\d{1,4}$/.test(hours) ? Number(hours) * 3600 : Number.NaN, from);
    revalidatePath(page);
    return { message: "Saved. Tokens that are out keep their end." };
  });
}

export async function updateScopesAction(appId: string, _previous: FormState, data: FormData): Promise<FormState> {
  return changeAppForm(appId, data, async ({ form, person, from, page }) => {
    await updateApp(person, appId, { scopes: form.all("scopes") }, from);
    revalidatePath(page);
    return { message: "Saved.", values: {} };
  });
}
