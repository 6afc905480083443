"use server";

import { redirect } from "next/navigation";
import { isServiceError, ServiceError } from "#core/errors.ts";
import { approveDevice, needsRecentProof } from "#core/oauth/device/approve-device.ts";
import { denyDevice } from "#core/oauth/device/deny-device.ts";
import { findDeviceAnswer } from "#core/oauth/device/find-device-answer.ts";
import { openDeviceRequest } from "#core/oauth/device/open-device-request.ts";
import { releaseDeviceRequest } from "#core/oauth/device/release-device-request.ts";
import type { FormState } from "../_components/form-state.ts";
import { submitForm } from "../_server/form.ts";
import { signInPath } from "../_server/next-path.ts";
import { requestOrigin } from "../_server/request-origin.ts";
import { currentSession, type SiteSession } from "../_server/session.ts";
import type { SubmittedForm } from "../_server/submitted-form.ts";
import { activatePath, CONFIRM_PATH, enterCode, forgetCode, PERMISSIONS_PATH } from "./device-code.ts";

/** The code was typed. */
export async function findDevice(_previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const typed = form.text("user_code");
    const session = await sessionOr(activatePath(typed));
    const { userCode } = await openDeviceRequest(session, typed, await requestOrigin());
    await enterCode({ userCode, isConfirmed: false });
    redirect(CONFIRM_PATH);
  });
}

/** Continue, or "This is not me". */
export async function confirmDevice(_previous: FormState, data: FormData): Promise<FormState> {
  return answer(data, async (session, form) => {
    const userCode = form.text("user_code");
    const decision = form.text("decision");
    if (decision === "deny") return deny(session, userCode);
    if (decision !== "continue") throw new ServiceError("invalid_request", "Press Continue or This is not me.");
    const asked = await openDeviceRequest(session, userCode, await requestOrigin()).catch((error: unknown) => {
      // That it was answered meanwhile is for the next page to say.
      if (isServiceError(error) && error.code === "conflict") return undefined;
      throw error;
    });
    if (asked && needsRecentProof(asked.consent, session)) return signInPath(CONFIRM_PATH, { isReauthentication: true });
    await enterCode({ userCode, isConfirmed: true });
    return PERMISSIONS_PATH;
  });
}

/** Authorize or Cancel in the permissions modal. Everything in the form is checked against the question by core (S25, S33). */
export async function decide(_previous: FormState, data: FormData): Promise<FormState> {
  return answer(data, async (session, form) => {
    const userCode = form.text("user_code");
    const decision = form.text("decision");
    if (decision === "deny") return deny(session, userCode);
    if (decision !== "allow") throw new ServiceError("invalid_request", "Press Authorize or Cancel.");
    const ticked = {
      scopes: form.all("scope"),
      orgIds: form.all("organization"),
      isAllOrgs: form.isTicked("all_organizations"),
      accountId: form.text("account"),
      fingerprint: form.text("app"),
    };
    await approveDevice(session, userCode, ticked, await requestOrigin());
    return answeredPath(session, userCode);
  });
}

/** Another account: the code is given back, since only the account that has opened it can answer it (S65). */
export async function switchAccount(data: FormData): Promise<void> {
  await submitForm(data, async (form) => {
    const userCode = form.text("user_code");
    const session = await currentSession();
    if (session) await releaseDeviceRequest(session, userCode);
    await forgetCode();
    redirect(`/login?${new URLSearchParams({ switch: "1", next: activatePath(userCode) })}`);
  });
}

async function answer(data: FormData, work: (session: SiteSession, form: SubmittedForm) => Promise<string>): Promise<FormState> {
  return submitForm(data, async (form) => {
    const session = await sessionOr(CONFIRM_PATH);
    redirect(
      await work(session, form).catch((error: unknown) => {
        if (isServiceError(error) && error.code === "reauthentication_required") {
          return signInPath(CONFIRM_PATH, { isReauthentication: true });
        }
        if (isServiceError(error) && error.code === "conflict") return answeredPath(session, form.text("user_code"));
        throw error;
      }),
    );
  });
}

async function deny(session: SiteSession, userCode: string): Promise<string> {
  await denyDevice(session, userCode, await requestOrigin());
  return answeredPath(session, userCode);
}

/** By the answer that counts: the second press of a double click leads where the first was going. */
async function answeredPath(session: SiteSession, userCode: string): Promise<string> {
  const answer = await findDeviceAnswer(session, userCode);
  await forgetCode();
  return answer?.isApproved ? `/activate/success?${new URLSearchParams({ app: answer.clientId })}` : "/activate/denied";
}

async function sessionOr(returnTo: string): Promise<SiteSession> {
  return (await currentSession()) ?? redirect(signInPath(returnTo));
}
