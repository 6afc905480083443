"use server";

import { redirect } from "next/navigation";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { isServiceError, ServiceError } from "#core/errors.ts";
import {
  approveDevice,
  denyDevice,
  findDeviceAnswer,
  needsRecentProof,
  openDeviceRequest,
  releaseDeviceRequest,
} from "#core/oauth/device/answer-device.ts";
import { tickedConsent } from "../_server/consent-form.ts";
import { formAction, text } from "../_server/form-action.ts";
import { signInPath } from "../_server/next-path.ts";
import { anybody, personAt } from "../_server/scopes.ts";
import { currentSession, type SiteSession } from "../_server/session.ts";
import { activatePath, CONFIRM_PATH, enterCode, forgetCode, PERMISSIONS_PATH } from "./device-code.ts";

export const findDevice = formAction(
  personAt((form) => activatePath(form.text("user_code"))),
  { user_code: text },
  async ({ session, input, from }) => {
    const { userCode } = await openDeviceRequest(session, input.user_code, from);
    await enterCode({ userCode, isConfirmed: false });
    redirect(CONFIRM_PATH);
  },
);

export const confirmDevice = formAction(
  personAt(CONFIRM_PATH),
  { user_code: text, decision: text },
  async ({ session, input: { user_code: userCode, decision }, from }) =>
    redirectAfter(session, userCode, async () => {
      if (decision === "deny") return deny(session, userCode, from);
      if (decision !== "continue") throw new ServiceError("invalid_request", "Press “Continue” or “This is not me”.");
      const asked = await openDeviceRequest(session, userCode, from).catch((error: unknown) => {
        // The next page says that the request was answered meanwhile.
        if (isServiceError(error) && error.code === "conflict") return undefined;
        throw error;
      });
      if (asked && needsRecentProof(asked.consent, session)) return signInPath(CONFIRM_PATH, { isReauthentication: true });
      await enterCode({ userCode, isConfirmed: true });
      return PERMISSIONS_PATH;
    }),
);

/** core compares everything in the form with the request (S25, S33). */
export const decide = formAction(
  personAt(CONFIRM_PATH),
  { user_code: text, decision: text, ticked: tickedConsent },
  async ({ session, input: { user_code: userCode, decision, ticked }, from }) =>
    redirectAfter(session, userCode, async () => {
      if (decision === "deny") return deny(session, userCode, from);
      if (decision !== "allow") throw new ServiceError("invalid_request", "Press “Authorize” or “Cancel”.");
      await approveDevice(session, userCode, ticked, from);
      return answeredPath(session, userCode);
    }),
);

/** Only the account that opened a device request can answer it, so the code must be released first (S65). */
const releaseCode = formAction(anybody, { user_code: text }, async ({ input: { user_code: userCode } }) => {
  const session = await currentSession();
  if (session) await releaseDeviceRequest(session, userCode);
  await forgetCode();
  redirect(`/login?${new URLSearchParams({ switch: "1", next: activatePath(userCode) })}`);
});

export async function switchAccount(data: FormData): Promise<void> {
  await releaseCode({ values: {}, errors: {} }, data);
}

/** The second press of a double click leads to the same page as the first. */
async function redirectAfter(session: SiteSession, userCode: string, work: () => Promise<string>): Promise<never> {
  redirect(
    await work().catch((error: unknown) => {
      if (isServiceError(error) && error.code === "conflict") return answeredPath(session, userCode);
      throw error;
    }),
  );
}

async function deny(session: SiteSession, userCode: string, from: RequestOrigin): Promise<string> {
  await denyDevice(session, userCode, from);
  return answeredPath(session, userCode);
}

async function answeredPath(session: SiteSession, userCode: string): Promise<string> {
  const answer = await findDeviceAnswer(session, userCode);
  await forgetCode();
  return answer?.isApproved ? `/activate/success?${new URLSearchParams({ app: answer.clientId })}` : "/activate/denied";
}
