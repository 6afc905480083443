import { cache } from "react";
import type { Person } from "#core/access/actor.ts";
import { may } from "#core/access/may.ts";
import { type AppDetails, getApp } from "#core/oauth/apps/get-app.ts";
import type { Scope } from "../form-action.ts";
import { orNotFound } from "../or-not-found.ts";
import { findOwnerPage, type OwnerPage } from "../owner-page.ts";
import { appPath, type OwnerName } from "../paths.ts";
import { requirePerson } from "../session.ts";

export function findAppsPage(home: OwnerName, page = "applications"): Promise<OwnerPage> {
  return findOwnerPage(home, page, (person, id) => may(person, "oauth_app.create", { ownerUserId: null, ownerOrgId: id }));
}

/** 404 for an unknown app, and for an app that the user does not manage (S136). */
export const findManagedApp = cache(async (appId: string): Promise<{ person: Person; details: AppDetails }> => {
  const person = await requirePerson(`/settings/applications/${encodeURIComponent(appId)}`);
  return { person, details: await orNotFound(getApp(person, appId)) };
});

export function appHome({ organization, boundOrganization, isOwner }: AppDetails): OwnerName {
  return organization?.name ?? (isOwner ? null : (boundOrganization?.name ?? null));
}

type OnApp = Readonly<{
  person: Person;
  appId: string;
  details: AppDetails;
  page: string;
}>;

export const appScope: Scope<[appId: string], OnApp> = {
  argumentCount: 1,
  enter: async (_form, appId) => {
    const person = await requirePerson("/settings/applications");
    const details = await getApp(person, appId);
    return { person, appId, details, page: appPath(appHome(details), appId) };
  },
};
