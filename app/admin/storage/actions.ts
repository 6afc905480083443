"use server";

import { redirect } from "next/navigation";
import { setStorageQuota } from "#core/storage/manage-quotas.ts";
import type { FormState } from "../../_components/form-state.ts";
import { submitForm } from "../../_server/form.ts";
import { requireOperator } from "../../_server/operator-page.ts";
import { requestOrigin } from "../../_server/request-origin.ts";
import { STORAGE_PATH, storageQuotaPath } from "./storage-path.ts";

export async function setQuotaAction(handle: string, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async (form) => {
      const operator = await requireOperator(STORAGE_PATH);
      const choice = form.text("choice");
      await setStorageQuota(operator, handle, choice === "size" ? form.text("quota") : choice, await requestOrigin());
      redirect(`${STORAGE_PATH}?${new URLSearchParams({ search: handle, notice: "quota" })}`);
    },
    { page: storageQuotaPath(handle) },
  );
}
