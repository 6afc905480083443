"use server";

import { splitRedirectUris } from "@keyhook/sdk";
import { revalidatePath } from "next/cache";
import { redirect } from "next/navigation";
import { findOrganizationByName } from "#core/accounts/organizations/find-organization.ts";
import { notFound, ServiceError } from "#core/errors.ts";
import { addSecret } from "#core/oauth/apps/add-secret.ts";
import { createApp } from "#core/oauth/apps/create-app.ts";
import { deleteApp } from "#core/oauth/apps/delete-app.ts";
import { deleteSecret } from "#core/oauth/apps/delete-secret.ts";
import { rotateSecret } from "#core/oauth/apps/rotate-secret.ts";
import { updateApp } from "#core/oauth/apps/update-app.ts";
import type { FormState } from "../../_components/form-state.ts";
import { submitForm } from "../form.ts";
import { requestOrigin } from "../request-origin.ts";
import { requirePerson } from "../session.ts";
import { appListPath, appPath } from "./app-paths.ts";
import { changeAppForm } from "./change-app-form.ts";

/** Consent was given to what the app was then (S36). */
const ASKED_AGAIN = "People who allowed the app are asked again when they next sign in.";

/** @param organizationName the owner; null for the person's own app */
export async function createAppAction(organizationName: string | null, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const person = await requirePerson(`${appListPath(organizationName)}/new`);
    const isConfidential = form.text("kind") === "confidential";
    const { app, secret } = await createApp(
      person,
      {
        owner: organizationName ? { orgId: await organizationId(organizationName) } : { userId: person.userId },
        name: form.text("name"),
        description: form.optional("description"),
        homepageUrl: form.optional("homepageUrl"),
        logo: await form.file("logo"),
        redirectUris: splitRedirectUris(form.text("redirectUris")),
        postLogoutRedirectUris: splitRedirectUris(form.text("postLogoutRedirectUris")),
        scopes: form.all("scopes"),
        isConfidential,
        isPkceRequired: !isConfidential || form.isTicked("isPkceRequired"),
        isRefreshAllowed: form.isTicked("isRefreshAllowed"),
        isDeviceFlowAllowed: form.isTicked("isDeviceFlowAllowed"),
        isBound: organizationName !== null && form.isTicked("isBound"),
      },
      await requestOrigin(),
    );
    const page = appPath(organizationName, app.id);
    // The secret can be read on this one answer only, so a confidential app is not redirected to its page.
    if (!secret) redirect(`${page}?notice=created`);
    return { values: { name: app.name, clientId: app.clientId, page }, secret: { label: "Client secret", value: secret } };
  });
}

async function organizationId(name: string): Promise<string> {
  const organization = await findOrganizationByName(name);
  if (!organization) throw notFound("Organization");
  return organization.id;
}

export async function updateAboutAction(appId: string, _previous: FormState, data: FormData): Promise<FormState> {
  return changeAppForm(appId, data, async ({ form, person, from, page, details }) => {
    const logo = (await form.file("logo")) ?? (form.isTicked("removeLogo") ? null : undefined);
    const changes = {
      name: form.text("name"),
      description: form.optional("description"),
      homepageUrl: form.optional("homepageUrl"),
      logo,
    };
    const app = await updateApp(person, appId, changes, from);
    revalidatePath(page);
    const values = { name: app.name, description: app.description ?? "", homepageUrl: app.homepageUrl ?? "" };
    return { message: app.name === details.app.name ? "Saved." : `Saved. ${ASKED_AGAIN}`, values };
  });
}

export async function updateRedirectsAction(appId: string, _previous: FormState, data: FormData): Promise<FormState> {
  return changeAppForm(appId, data, async ({ form, person, from, page, details }) => {
    const app = await updateApp(
      person,
      appId,
      {
        redirectUris: splitRedirectUris(form.text("redirectUris")),
        postLogoutRedirectUris: splitRedirectUris(form.text("postLogoutRedirectUris")),
      },
      from,
    );
    revalidatePath(page);
    const values = {
      redirectUris: app.redirectUris.join("\n"),
      postLogoutRedirectUris: app.postLogoutRedirectUris.join("\n"),
    };
    const isChanged = values.redirectUris !== details.app.redirectUris.join("\n");
    return { message: isChanged ? `Saved. ${ASKED_AGAIN}` : "Saved.", values };
  });
}

export async function updatePermissionsAction(appId: string, _previous: FormState, data: FormData): Promise<FormState> {
  return changeAppForm(appId, data, async ({ form, person, from, page, details }) => {
    await updateApp(
      person,
      appId,
      {
        scopes: form.all("scopes"),
        isRefreshAllowed: form.isTicked("isRefreshAllowed"),
        isDeviceFlowAllowed: form.isTicked("isDeviceFlowAllowed"),
        // A public app's PKCE stays on, and its box is disabled and not sent.
        ...(details.isConfidential && { isPkceRequired: form.isTicked("isPkceRequired") }),
      },
      from,
    );
    revalidatePath(page);
    return { message: "Saved.", values: {} };
  });
}

/** Adds a secret, or puts a new one in the place of the present one. */
export async function issueSecretAction(appId: string, _previous: FormState, data: FormData): Promise<FormState> {
  return changeAppForm(appId, data, async ({ form, person, from, page, details }) => {
    const { secret } =
      details.secrets.length === 0
        ? await addSecret(person, appId, from)
        : await rotateSecret(person, appId, { overlapSeconds: Number(form.text("overlapSeconds")) }, from);
    revalidatePath(page);
    return { secret: { label: "Client secret", value: secret }, values: {} };
  });
}

export async function deleteSecretAction(appId: string, _previous: FormState, data: FormData): Promise<FormState> {
  return changeAppForm(appId, data, async ({ person, from, page }) => {
    await deleteSecret(person, appId, from);
    redirect(`${page}?notice=secret-deleted`);
  });
}

export async function deleteAppAction(appId: string, _previous: FormState, data: FormData): Promise<FormState> {
  return changeAppForm(appId, data, async ({ form, person, from, details }) => {
    if (form.text("confirmation") !== details.app.name) {
      throw new ServiceError("invalid_request", `Type ${details.app.name} to confirm.`, { field: "confirmation" });
    }
    await deleteApp(person, appId, from);
    redirect(`${appListPath(details.organization?.name ?? null)}?notice=deleted`);
  });
}
