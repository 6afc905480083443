"use server";

import { redirect } from "next/navigation";
import { rotateKeys } from "#core/oauth/signing-keys.ts";
import type { FormState } from "../../_components/form-state.ts";
import { submitForm } from "../../_server/form.ts";
import { requireOperator } from "../../_server/operator-page.ts";
import { requestOrigin } from "../../_server/request-origin.ts";

const PAGE = "/admin/keys";

export async function rotateAction(isImmediate: boolean, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async () => {
      await rotateKeys(await requireOperator(PAGE), isImmediate === true, await requestOrigin());
      redirect(`${PAGE}?notice=${isImmediate === true ? "replaced" : "rotated"}`);
    },
    { page: PAGE },
  );
}
