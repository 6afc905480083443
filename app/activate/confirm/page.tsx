import type { Metadata } from "next";
import { AccountLine } from "../../_components/account-line.tsx";
import { ActionForm } from "../../_components/action-form.client.tsx";
import { CardFrame } from "../../_components/card-frame.tsx";
import { CardHeader } from "../../_components/card-header.tsx";
import { FormMessage } from "../../_components/form-message.tsx";
import { SubmitButton } from "../../_components/submit-button.client.tsx";
import { AboutDevices } from "../about-devices.tsx";
import { confirmDevice } from "../actions.ts";
import { CodeOver } from "../code-over.tsx";
import { readDevicePage } from "../read-device-page.ts";
import { SwitchAccount } from "../switch-account.tsx";
import { UserCode } from "../user-code.tsx";
import { DeviceFacts } from "./device-facts.tsx";

export const metadata: Metadata = { title: "Is this your device?" };

/**
 * What a person is asked before anything is granted (S64): whether the request that they are looking at is their own. Whoever
 * sends people codes of their own making counts on nobody reading this (RFC 8628 §5.4).
 */
export default async function ConfirmPage() {
  const page = await readDevicePage();
  if (page.step === "over") return <CodeOver reason={page.reason} />;
  const { request, session } = page;
  return (
    <CardFrame width="modal" footnote={<AboutDevices />}>
      <CardHeader title="Is this the code on your device?">
        Go on only if you see it on a device that you are connecting yourself.
      </CardHeader>
      <div className="grid gap-4 px-6 py-5">
        <UserCode userCode={request.userCode} />
        {request.isElsewhere && (
          <FormMessage tone="warn">
            This device seems to be on another network than yours. If somebody sent you the code or a link with it, press{" "}
            <strong>This is not me</strong>: going on would let them in with your account.
          </FormMessage>
        )}
      </div>
      <AccountLine user={session.user} action={<SwitchAccount userCode={request.userCode} />} />
      <DeviceFacts request={request} />
      <div className="border-line border-t px-6 py-4">
        <ActionForm action={confirmDevice} className="grid gap-3">
          <input type="hidden" name="user_code" value={request.userCode} />
          <div className="grid grid-cols-2 gap-3">
            <SubmitButton name="decision" value="deny" variant="secondary">
              This is not me
            </SubmitButton>
            <SubmitButton name="decision" value="continue">
              Continue
            </SubmitButton>
          </div>
          <p className="text-center text-muted text-small">Nothing is shared yet. You choose on the next page.</p>
        </ActionForm>
      </div>
    </CardFrame>
  );
}
