"use server";

import { splitRedirectUris } from "@keyhook/sdk";
import { revalidatePath } from "next/cache";
import { redirect } from "next/navigation";
import type { Person } from "#core/access/actor.ts";
import { findOrganizationByName } from "#core/accounts/organizations/find-organization.ts";
import { isServiceError, notFound } from "#core/errors.ts";
import { removeKeys, setKeys } from "#core/oauth/apps/app-keys.ts";
import { requestPrivilege } from "#core/oauth/apps/app-privilege.ts";
import { addSecret, deleteSecret, rotateSecret } from "#core/oauth/apps/app-secrets.ts";
import { bindApp, setTokenDuration, unbindApp } from "#core/oauth/apps/bound-apps.ts";
import { createApp } from "#core/oauth/apps/create-app.ts";
import type { AppDetails } from "#core/oauth/apps/get-app.ts";
import { deleteApp, transferApp } from "#core/oauth/apps/transfer-app.ts";
import { updateApp } from "#core/oauth/apps/update-app.ts";
import { hasPrivateKey } from "#core/oauth/clients/client-keys.ts";
import { formAction, image, optional, requireConfirmation, type Scope, text, texts, ticked } from "../form-action.ts";
import { appListPath, appPath, type OwnerName } from "../paths.ts";
import { requirePerson } from "../session.ts";
import type { SubmittedForm } from "../submitted-form.ts";
import { appScope } from "./find-app.ts";

/** @param isChanged whether users consented to an app that looked different, and are asked again (S36) */
const saved = ({ userCount }: AppDetails, isChanged: boolean): string =>
  isChanged && userCount > 0 ? "Saved. Users of the app are asked for consent again at their next sign-in." : "Saved.";

const newApp: Scope<[home: OwnerName], Readonly<{ person: Person; home: OwnerName; page: string }>> = {
  argumentCount: 1,
  enter: async (_form, home) => {
    const page = `${appListPath(home)}/new`;
    return { person: await requirePerson(page), home, page };
  },
};

const uris = (form: SubmittedForm, name: string) => splitRedirectUris(form.text(name));
const addresses = { redirectUris: uris, postLogoutRedirectUris: uris };
const about = { name: text, description: optional, homepageUrl: optional };
const permissions = { scopes: texts, isRefreshAllowed: ticked, isDeviceFlowAllowed: ticked };

export const createAppAction = formAction(
  newApp,
  {
    ...about,
    ...addresses,
    ...permissions,
    logo: (form, name) => form.file(name),
    isConfidential: (form) => form.text("kind") === "confidential",
    isPkceRequired: ticked,
    isBound: ticked,
  },
  async ({ person, home, input, from }) => {
    const { app, secret } = await createApp(
      person,
      {
        ...input,
        owner: home ? { orgId: await organizationId(home) } : { userId: person.userId },
        isPkceRequired: !input.isConfidential || input.isPkceRequired,
        isBound: home !== null && input.isBound,
      },
      from,
    );
    const page = appPath(home, app.id);
    // Only this response shows the secret, so no redirect may follow.
    if (!secret) redirect(`${page}?tab=connect&notice=created`);
    return {
      values: { name: app.name, clientId: app.clientId, page: `${page}?tab=connect` },
      secret: { label: "Client secret", value: secret },
    };
  },
);

async function organizationId(name: string): Promise<string> {
  const organization = await findOrganizationByName(name);
  if (!organization) throw notFound("Organization");
  return organization.id;
}

export const updateAboutAction = formAction(
  appScope,
  { ...about, logo: image },
  async ({ person, appId, details, page, input, from }) => {
    const app = await updateApp(person, appId, input, from);
    revalidatePath(page);
    const values = { name: app.name, description: app.description ?? "", homepageUrl: app.homepageUrl ?? "" };
    const isChanged = app.name !== details.app.name || app.logoId !== details.app.logoId;
    return { message: saved(details, isChanged), values };
  },
);

export const updateRedirectsAction = formAction(appScope, addresses, async ({ person, appId, details, page, input, from }) => {
  const app = await updateApp(person, appId, input, from);
  revalidatePath(page);
  const values = {
    redirectUris: app.redirectUris.join("\n"),
    postLogoutRedirectUris: app.postLogoutRedirectUris.join("\n"),
  };
  const isChanged = values.redirectUris !== details.app.redirectUris.join("\n");
  return { message: saved(details, isChanged), values };
});

export const updatePermissionsAction = formAction(
  appScope,
  { ...permissions, isPkceRequired: ticked },
  async ({ person, appId, details, page, input: { isPkceRequired, ...input }, from }) => {
    // A public app's box for PKCE is disabled. The browser does not send a disabled field, so PKCE stays on.
    await updateApp(person, appId, { ...input, ...(details.isConfidential && { isPkceRequired }) }, from);
    revalidatePath(page);
    return { message: "Saved.", values: {} };
  },
);

export const issueSecretAction = formAction(
  appScope,
  { overlapSeconds: (form) => Number(form.text("overlapSeconds")) },
  async ({ person, appId, details, page, input, from }) => {
    const isFirst = details.secrets.length === 0;
    const { secret } = isFirst ? await addSecret(person, appId, from) : await rotateSecret(person, appId, input, from);
    revalidatePath(page);
    return { secret: { label: "Client secret", value: secret }, values: {} };
  },
);

export const deleteSecretAction = formAction(appScope, {}, async ({ person, appId, page, from }) => {
  await deleteSecret(person, appId, from);
  redirect(`${page}?tab=connect&notice=secret-deleted`);
});

export const transferAppAction = formAction(appScope, { owner: text }, async ({ person, appId, input, from }) => {
  const { orgName } = await transferApp(person, appId, input, from);
  redirect(`${appPath(orgName, appId)}?notice=transferred`);
});

export const deleteAppAction = formAction(appScope, { confirmation: text }, async ({ person, appId, details, input, from }) => {
  requireConfirmation(input.confirmation, details.app.name);
  await deleteApp(person, appId, from);
  redirect(`${appListPath(details.organization?.name ?? null)}?notice=deleted`);
});

export const bindAction = formAction(appScope, { orgId: text }, async ({ person, appId, page, input, from }) => {
  await bindApp(person, appId, input.orgId, from);
  redirect(`${page}?tab=permissions&notice=bound`);
});

export const unbindAction = formAction(appScope, {}, async ({ person, appId, details, page, from }) => {
  await unbindApp(person, appId, from);
  // The organization's administrators no longer see an app that somebody else owns.
  redirect(
    details.isOwner
      ? `${page}?tab=permissions&notice=unbound`
      : `${appListPath(details.boundOrganization?.name ?? null)}?notice=unbound`,
  );
});

export const requestPrivilegeAction = formAction(appScope, {}, async ({ person, appId, page, from }) => {
  await requestPrivilege(person, appId, from);
  redirect(`${page}?tab=permissions&notice=privilege-asked`);
});

export const setTokenDurationAction = formAction(
  appScope,
  { tokenHours: text },
  async ({ person, appId, page, input: { tokenHours: hours }, from }) => {
    await setTokenDuration(person, appId, /^\d{1,4}$/.test(hours) ? Number(hours) * 3600 : Number.NaN, from);
    revalidatePath(page);
    return { message: "Saved. Existing tokens keep their expiry." };
  },
);

export const updateScopesAction = formAction(appScope, { scopes: texts }, async ({ person, appId, page, input, from }) => {
  await updateApp(person, appId, input, from);
  revalidatePath(page);
  return { message: "Saved.", values: {} };
});

export const updateRequirementsAction = formAction(
  appScope,
  { isParRequired: ticked, isDpopRequired: ticked, isRefreshRotated: ticked },
  async ({ person, appId, page, input, from }) => {
    await updateApp(person, appId, input, from);
    revalidatePath(page);
    return { message: "Saved.", values: {} };
  },
);

export const updateProfileAction = formAction(
  appScope,
  { securityProfile: (form) => (form.text("securityProfile") === "fapi2" ? ("fapi2" as const) : ("standard" as const)) },
  async ({ person, appId, details, page, input, from }) => {
    await updateApp(person, appId, input, from);
    revalidatePath(page);
    if (input.securityProfile === "fapi2") return { message: "Saved. The app must now comply with FAPI 2.0.", values: {} };
    const wasFapi = details.app.securityProfile === "fapi2";
    return { message: wasFapi ? "Saved. The requirements below stay on until you turn them off." : "Saved.", values: {} };
  },
);

export const setKeysAction = formAction(appScope, { jwks: text, jwksUri: text }, async ({ person, appId, page, input, from }) => {
  try {
    await setKeys(person, appId, input, from);
  } catch (error) {
    // The screen must not show a private key that was pasted by mistake, because others may see the screen.
    if (!isServiceError(error) || error.field !== "jwks" || !hasPrivateKey(input.jwks)) throw error;
    return { errors: { jwks: error.message }, values: { jwks: "", jwksUri: input.jwksUri } };
  }
  revalidatePath(page);
  redirect(`${page}?tab=security&notice=keys-set`);
});

export const deleteKeysAction = formAction(appScope, {}, async ({ person, appId, details, page, from }) => {
  await removeKeys(person, appId, from);
  redirect(`${page}?tab=${details.isOwner ? "security" : "connect"}&notice=keys-deleted`);
});

export const updateLogoutUriAction = formAction(
  appScope,
  { backchannelLogoutUri: optional },
  async ({ person, appId, page, input, from }) => {
    const app = await updateApp(person, appId, input, from);
    revalidatePath(page);
    const message = app.backchannelLogoutUri
      ? "Saved. Your server is now notified of sign-outs."
      : "Saved. Your server is not notified of sign-outs.";
    return { message, values: { backchannelLogoutUri: app.backchannelLogoutUri ?? "" } };
  },
);
