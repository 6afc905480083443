"use server";

import { redirect } from "next/navigation";
import { askForPasskeyAsSecondStep } from "#core/accounts/second-step/ask-for-passkey.ts";
import { finishSecondStep, type SecondStepProof } from "#core/accounts/second-step/finish-second-step.ts";
import { isServiceError } from "#core/errors.ts";
import type { FormState } from "../../_components/form-state.ts";
import type { AskedPasskey } from "../../_components/passkey-button.client.tsx";
import { enter, secondStepToken } from "../../_server/enter.ts";
import { submitForm } from "../../_server/form.ts";
import { nextPath } from "../../_server/next-path.ts";
import { askPasskey, passkeyAnswer } from "../../_server/passkey-answer.ts";
import { requestOrigin } from "../../_server/request-origin.ts";
import { sessionToken } from "../../_server/session-cookie.ts";
import type { SubmittedForm } from "../../_server/submitted-form.ts";

export async function finishWithCodeAction(_previous: FormState, data: FormData): Promise<FormState> {
  return finish(data, (form) => ({ kind: "code", code: form.text("code") }));
}

export async function finishWithRecoveryCodeAction(_previous: FormState, data: FormData): Promise<FormState> {
  return finish(data, (form) => ({ kind: "recovery-code", code: form.text("recoveryCode") }));
}

export async function askForPasskeyAsSecondStepAction(): Promise<AskedPasskey> {
  return askPasskey(async () => ({ use: await askForPasskeyAsSecondStep(await secondStepToken(), await requestOrigin()) }));
}

export async function finishWithPasskeyAction(_previous: FormState, data: FormData): Promise<FormState> {
  return finish(data, (form) => ({ kind: "passkey", response: passkeyAnswer(form) }));
}

async function finish(data: FormData, read: (form: SubmittedForm) => SecondStepProof): Promise<FormState> {
  return submitForm(data, async (form) => {
    const next = nextPath(form.text("next"));
    const input = { token: await secondStepToken(), proof: read(form), session: await sessionToken() };
    const outcome = await finishSecondStep(input, await requestOrigin()).catch((error: unknown) => {
      if (isServiceError(error) && error.code === "gone") redirect(`/login?${new URLSearchParams({ notice: "ran-out", next })}`);
      throw error;
    });
    return enter(outcome, next);
  });
}
