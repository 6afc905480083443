import { notFound } from "next/navigation";
import { cache } from "react";
import type { Person } from "#core/access/actor.ts";
import { isServiceError } from "#core/errors.ts";
import { type AppDetails, getApp } from "#core/oauth/apps/get-app.ts";
import { requirePerson } from "../session.ts";

/**
 * The app of a page's address and who looks at it, read once a request. The answer is the page of unknown things for an app that
 * is unknown or another's (S136).
 */
export const findManagedApp = cache(async (appId: string): Promise<{ person: Person; details: AppDetails }> => {
  const person = await requirePerson(`/settings/applications/${encodeURIComponent(appId)}`);
  try {
    return { person, details: await getApp(person, appId) };
  } catch (error) {
    if (isServiceError(error) && error.code === "not_found") notFound();
    throw error;
  }
});
