import { redirect } from "next/navigation";
import { cache } from "react";
import { isServiceError, type ServiceError } from "#core/errors.ts";
import { type DeviceRequest, openDeviceRequest } from "#core/oauth/device/answer-device.ts";
import { isPageRefused, setPageStatus } from "../_server/page-status.ts";
import { requestOrigin } from "../_server/request-origin.ts";
import { requireSession, type SiteSession } from "../_server/session.ts";
import { CONFIRM_PATH, enteredCode } from "./device-code.ts";

type DevicePage =
  | { step: "ask"; request: DeviceRequest; session: SiteSession; isConfirmed: boolean }
  | { step: "over"; reason: ServiceError | undefined };

export const readDevicePage = cache(async (): Promise<DevicePage> => {
  const entered = await enteredCode();
  // The page must explain the refusal. A redirect would make the browser submit the form again.
  if (!entered && isPageRefused()) return { step: "over", reason: undefined };
  if (!entered) redirect("/activate");
  const session = await requireSession(CONFIRM_PATH);
  try {
    const request = await openDeviceRequest(session, entered.userCode, await requestOrigin());
    return { step: "ask", request, session, isConfirmed: entered.isConfirmed };
  } catch (error) {
    if (!isServiceError(error)) throw error;
    setPageStatus(error.status, error.retryAfterSeconds);
    return { step: "over", reason: error };
  }
});
