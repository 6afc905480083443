import { MonitorSmartphone } from "lucide-react";
import type { Metadata } from "next";
import type { ReactNode } from "react";
import { describeDevice } from "#core/accounts/sessions/describe-device.ts";
import type { DeviceRequest } from "#core/oauth/device/answer-device.ts";
import { AccountLine } from "../../_components/account-line.tsx";
import { ActionForm, SubmitButton } from "../../_components/action-form.client.tsx";
import { Avatar } from "../../_components/avatar.tsx";
import { CardFrame, CardHeader } from "../../_components/card-frame.tsx";
import { AppIdentity } from "../../_components/consent/app-identity.tsx";
import { PressGuard } from "../../_components/form-buttons.tsx";
import { FormMessage } from "../../_components/page-layout.tsx";
import { RelativeTime } from "../../_components/relative-time.tsx";
import { scopeIcons } from "../../_components/scopes.tsx";
import { confirmDevice } from "../actions.ts";
import { AboutDevices, CodeOver, SwitchAccount } from "../code-over.tsx";
import { readDevicePage } from "../read-device-page.ts";

export const metadata: Metadata = { title: "Is this your device?" };

/** The user must confirm. An attacker may send users the code of the attacker's own device (S64, RFC 8628 §5.4). */
export default async function ConfirmPage() {
  const page = await readDevicePage();
  if (page.step === "over") return <CodeOver reason={page.reason} />;
  const { request, session } = page;
  return (
    <CardFrame width="modal" footnote={<AboutDevices />}>
      <CardHeader title="Is this the code on your device?">
        Continue only if you see it on a device that you are connecting yourself.
      </CardHeader>
      <div className="grid gap-4 px-6 py-5">
        <UserCode userCode={request.userCode} />
        {request.isFromOtherNetwork && (
          <FormMessage tone="warn">
            The device that requests access seems to be on a different network from yours. If someone sent you the code or a link
            with it, press <strong>This is not me</strong>. If you continue, they could use your account.
          </FormMessage>
        )}
      </div>
      <AccountLine user={session.user} action={<SwitchAccount userCode={request.userCode} />} />
      <DeviceFacts request={request} />
      <div className="border-line border-t px-6 py-4">
        <ActionForm action={confirmDevice} className="grid gap-3">
          <input type="hidden" name="user_code" value={request.userCode} />
          <div className="grid gap-3 min-[24rem]:grid-cols-2">
            <SubmitButton name="decision" value="deny" variant="secondary" isWide>
              This is not me
            </SubmitButton>
            <PressGuard>
              <SubmitButton name="decision" value="continue" isWide>
                Continue
              </SubmitButton>
            </PressGuard>
          </div>
          <p className="text-center text-muted text-small">Nothing is shared yet. You choose on the next page.</p>
        </ActionForm>
      </div>
    </CardFrame>
  );
}

function DeviceFacts({ request }: Readonly<{ request: DeviceRequest }>) {
  const { device, requestedAt, consent } = request;
  const { app, scopes, alreadyGranted } = consent;
  return (
    <dl className="grid gap-4 px-6 py-5">
      <Fact label="App" picture={<Avatar name={app.name} src={app.logoId ? `/images/${app.logoId}` : undefined} kind="app" />}>
        <bdi className="font-medium">{app.name}</bdi>
        <AppIdentity app={app} />
      </Fact>
      <Fact label="Device" picture={<MonitorSmartphone className="mt-1.5 size-5 text-muted" aria-hidden="true" />}>
        <span className="block font-medium">{describeDevice(device.userAgent)}</span>
        <span className="block text-muted">
          {device.ip ?? "Unknown IP address"} · requested <RelativeTime at={requestedAt} />
        </span>
      </Fact>
      <Fact label="It asks to">
        <ul className="grid gap-1.5">
          {[...scopes, ...alreadyGranted].map(({ scope, sentence }) => {
            const Icon = scopeIcons[scope];
            return (
              <li key={scope} className="flex gap-2.5">
                <Icon className="mt-1 size-4 shrink-0 text-muted" aria-hidden="true" />
                <span className="min-w-0 break-words">{sentence}</span>
              </li>
            );
          })}
        </ul>
      </Fact>
    </dl>
  );
}

type FactProps = Readonly<{ label: string; picture?: ReactNode; children: ReactNode }>;

function Fact({ label, picture, children }: FactProps) {
  return (
    <div>
      <dt className="text-fine text-muted">{label}</dt>
      <dd className="mt-1 flex gap-3">
        {picture && <span className="flex w-8 shrink-0 justify-center">{picture}</span>}
        <div className="min-w-0 flex-1 break-words">{children}</div>
      </dd>
    </div>
  );
}

function UserCode({ userCode }: Readonly<{ userCode: string }>) {
  const [first, second] = userCode.split("-");
  return (
    <p className="user-code" translate="no">
      <span>{first}</span>
      <span className="sr-only">-</span>
      <span>{second}</span>
    </p>
  );
}
