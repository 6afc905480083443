"use server";

import { redirect } from "next/navigation";
import { TOKEN_EXCHANGE } from "#core/oauth/apps/privilege.ts";
import { setAppBlock } from "#core/oauth/apps/set-app-block.ts";
import { setAppPrivilege } from "#core/oauth/apps/set-app-privilege.ts";
import { setAppVerified } from "#core/oauth/apps/set-app-verified.ts";
import type { FormState } from "../../_components/form-state.ts";
import { submitForm } from "../../_server/form.ts";
import { nextPath } from "../../_server/next-path.ts";
import { requireOperator } from "../../_server/operator-page.ts";
import { requestOrigin } from "../../_server/request-origin.ts";
import type { SubmittedForm } from "../../_server/submitted-form.ts";
import { APPS_PATH } from "./apps-path.ts";

export async function verifyAction(appId: string, isVerified: boolean, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async (form) => {
      await setAppVerified(await requireOperator(APPS_PATH), appId, isVerified === true, await requestOrigin());
      backToApps(form, isVerified ? "verified" : "unverified");
    },
    { page: returnPath },
  );
}

export async function privilegeAction(
  appId: string,
  isGranted: boolean,
  _previous: FormState,
  data: FormData,
): Promise<FormState> {
  return submitForm(
    data,
    async (form) => {
      await setAppPrivilege(await requireOperator(APPS_PATH), appId, TOKEN_EXCHANGE, isGranted === true, await requestOrigin());
      backToApps(form, isGranted ? "privilege-granted" : "privilege-revoked");
    },
    { page: returnPath },
  );
}

export async function blockAction(appId: string, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async (form) => {
      await setAppBlock(await requireOperator(APPS_PATH), appId, true, await requestOrigin());
      backToApps(form, "blocked");
    },
    { page: returnPath },
  );
}

export async function unblockAction(appId: string, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async (form) => {
      await setAppBlock(await requireOperator(APPS_PATH), appId, false, await requestOrigin());
      backToApps(form, "unblocked");
    },
    { page: returnPath },
  );
}

/** Where a proof of identity that has grown old is renewed for: the list as it was. */
function returnPath(form: SubmittedForm): string {
  return listPath(form.text("returnTo"));
}

function backToApps(form: SubmittedForm, notice: string): never {
  const list = new URL(returnPath(form), "https://self.invalid");
  list.searchParams.set("notice", notice);
  redirect(list.pathname + list.search);
}

/** The list that the form came from; nothing else, whatever was sent. */
function listPath(sent: unknown): string {
  const path = nextPath(sent, APPS_PATH);
  return path === APPS_PATH || path.startsWith(`${APPS_PATH}?`) ? path : APPS_PATH;
}
