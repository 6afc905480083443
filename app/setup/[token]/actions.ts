"use server";

import { redeemSetupLink } from "#core/accounts/setup-link.ts";
import type { FormState } from "../../_components/form-state.ts";
import { enter } from "../../_server/enter.ts";
import { submitForm } from "../../_server/form.ts";
import { requestOrigin } from "../../_server/request-origin.ts";

export async function redeemSetupLinkAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const operator = {
      username: form.text("username"),
      fullName: form.text("fullName"),
      email: form.text("email"),
      password: form.verbatim("password"),
    };
    return enter({ step: "done", ...(await redeemSetupLink(form.text("token"), operator, await requestOrigin())) }, "/");
  });
}
