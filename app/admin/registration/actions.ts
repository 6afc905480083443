"use server";

import { redirect } from "next/navigation";
import { setRegistrationPolicy } from "#core/oauth/registration/registration-policy.ts";
import type { FormState } from "../../_components/form-state.ts";
import { submitForm } from "../../_server/form.ts";
import { requireOperator } from "../../_server/operator-page.ts";
import { requestOrigin } from "../../_server/request-origin.ts";

export async function setRegistrationAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async (form) => {
      const operator = await requireOperator("/admin/registration");
      const { isOn } = await setRegistrationPolicy(operator, { isOn: form.text("isOn") === "1" }, await requestOrigin());
      redirect(`/admin/registration?notice=${isOn ? "on" : "off"}`);
    },
    { page: "/admin/registration" },
  );
}
