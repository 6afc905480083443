import type { RequestedOrganization } from "#core/oauth/consents/consent-request.ts";
import { Avatar } from "../avatar.tsx";
import { avatarSrc } from "../avatar-src.ts";

export function OrganizationRow({ organization }: Readonly<{ organization: RequestedOrganization }>) {
  const { id, name, fullName, avatarId, role, isAskedFor, isAlreadyGranted, isTicked } = organization;
  return (
    <li>
      <label className="flex items-center gap-3 rounded-control border border-line px-3 py-2 has-checked:border-ink">
        <Avatar name={fullName} src={avatarSrc(name, avatarId)} size="sm" kind="organization" />
        <span className="min-w-0 flex-1 break-words leading-5">
          <span id={`${id}-label`} className="block">
            <bdi>{fullName}</bdi>
          </span>
          <span id={`${id}-detail`} className="block text-muted text-small">
            {fullName.toLowerCase() !== name.toLowerCase() && `${name} · `}
            {role}
            {isAskedFor && " · asked for by the app"}
            {isAlreadyGranted && " · granted before"}
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
