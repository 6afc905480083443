import { Ban } from "lucide-react";
import Link from "next/link";
import type { RequestedOrganization } from "#core/oauth/consents/consent-request.ts";
import { refusalSentences } from "../app-policy-sentences.ts";
import { Avatar } from "../avatar.tsx";
import { avatarSrc } from "../avatar-src.ts";

export type OrganizationRowProps = Readonly<{ organization: RequestedOrganization; clientId: string }>;

export function OrganizationRow({ organization, clientId }: OrganizationRowProps) {
  const { id, name, fullName, avatarId, refusal, isTicked } = organization;
  if (refusal !== null) return <ClosedRow organization={organization} clientId={clientId} />;
  return (
    <li>
      <label className="flex items-center gap-3 rounded-control border border-line px-3 py-2 has-checked:border-ink">
        <Avatar name={fullName} src={avatarSrc(name, avatarId)} size="sm" kind="organization" />
        <span className="min-w-0 flex-1 break-words leading-5">
          <span id={`${id}-label`} className="block">
            <bdi>{fullName}</bdi>
          </span>
          <span id={`${id}-detail`} className="block text-muted text-small">
            {detailOf(organization)}
          </span>
        </span>
        <input
          type="checkbox"
          name="organization"
          value={id}
          defaultChecked={isTicked}
          aria-labelledby={`${id}-label`}
          aria-describedby={`${id}-detail`}
          className="size-4 shrink-0"
        />
      </label>
    </li>
  );
}

/**
 * An organization whose policy keeps this app out: there with the reason and the way to ask, and nothing to tick
 * (docs/ui.md#the-permissions-modal).
 */
function ClosedRow({ organization, clientId }: OrganizationRowProps) {
  const { name, fullName, avatarId, refusal, isRequested } = organization;
  if (refusal === null) return null;
  return (
    <li className="flex items-center gap-3 rounded-control border border-line border-dashed bg-sunken px-3 py-2">
      <Avatar name={fullName} src={avatarSrc(name, avatarId)} size="sm" kind="organization" />
      <span className="min-w-0 flex-1 break-words text-muted leading-5">
        <bdi className="block">{fullName}</bdi>
        <span className="block text-small">
          {detailOf(organization)}. It {refusalSentences[refusal]}.{" "}
          {refusal === "not_approved" && isRequested && "Its administrators are asked."}
          {refusal === "not_approved" && !isRequested && (
            <Link
              prefetch={false}
              target="_blank"
              className="link text-ink"
              href={`/organizations/${encodeURIComponent(name)}/ask-for-app?${new URLSearchParams({ client_id: clientId })}`}
            >
              Ask its administrators<span className="sr-only"> to approve this app in {fullName}</span>
            </Link>
          )}
        </span>
      </span>
      <Ban className="size-4 shrink-0 text-muted" aria-hidden="true" />
    </li>
  );
}

function detailOf({ name, fullName, role, isAskedFor, isAlreadyGranted }: RequestedOrganization): string {
  return [
    ...(fullName.toLowerCase() === name.toLowerCase() ? [] : [name]),
    role,
    ...(isAskedFor ? ["asked for by the app"] : []),
    ...(isAlreadyGranted ? ["granted before"] : []),
  ].join(" · ");
}
