"use server";

import { redirect } from "next/navigation";
import { getApp } from "#core/oauth/apps/get-app.ts";
import { transferApp } from "#core/oauth/apps/transfer-app.ts";
import type { FormState } from "../../_components/form-state.ts";
import { submitForm } from "../form.ts";
import { requestOrigin } from "../request-origin.ts";
import { requirePerson } from "../session.ts";
import { appPath } from "./app-paths.ts";

export async function transferAppAction(appId: string, _previous: FormState, data: FormData): Promise<FormState> {
  const person = await requirePerson(appPath(null, appId));
  return submitForm(
    data,
    async (form) => {
      const { orgName } = await transferApp(person, appId, { owner: form.text("owner") }, await requestOrigin());
      redirect(`${appPath(orgName, appId)}?notice=transferred`);
    },
    { page: await pageOf(person, appId) },
  );
}

/** Where the app is now, to come back to after a proof of identity. */
async function pageOf(person: Awaited<ReturnType<typeof requirePerson>>, appId: string): Promise<string> {
  const details = await getApp(person, appId).catch(() => undefined);
  return appPath(details?.organization?.name ?? null, appId);
}
