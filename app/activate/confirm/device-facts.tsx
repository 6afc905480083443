import { MonitorSmartphone } from "lucide-react";
import type { ReactNode } from "react";
import { describeDevice } from "#core/accounts/sessions/describe-device.ts";
import type { DeviceRequest } from "#core/oauth/device/open-device-request.ts";
import { Avatar } from "../../_components/avatar.tsx";
import { AppIdentity } from "../../_components/consent/app-identity.tsx";
import { RelativeTime } from "../../_components/relative-time.tsx";
import { scopeIcons } from "../../_components/scopes/scope-icons.ts";

/** Which app asks, from which device and place, and for what in short. */
export function DeviceFacts({ request }: Readonly<{ request: DeviceRequest }>) {
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
          {device.ip ?? "Unknown address"} · asked <RelativeTime at={requestedAt} />
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
