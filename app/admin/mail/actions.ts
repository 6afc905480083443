"use server";

import { redirect } from "next/navigation";
import { retryMail } from "#core/operations/mail/retry-mail.ts";
import { sendTestLetter } from "#core/operations/mail/send-test-letter.ts";
import type { FormState } from "../../_components/form-state.ts";
import { submitForm } from "../../_server/form.ts";
import { requireOperator } from "../../_server/operator-page.ts";
import { requestOrigin } from "../../_server/request-origin.ts";

const PAGE = "/admin/mail";

export async function sendTestAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async () => {
    const { id } = await sendTestLetter(await requireOperator(PAGE), undefined, await requestOrigin());
    redirect(`${PAGE}?test=${id}`);
  });
}

export async function retryAction(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async () => {
    await retryMail(await requireOperator(PAGE));
    redirect(`${PAGE}?notice=retried`);
  });
}
