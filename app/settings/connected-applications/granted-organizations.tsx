import type { ConnectedApp } from "#core/oauth/consents/list-consents.ts";
import { Avatar } from "../../_components/avatar.tsx";
import { avatarSrc } from "../../_components/avatar-src.ts";

export function GrantedOrganizations({ organizations, isAllOrgs }: Pick<ConnectedApp, "organizations" | "isAllOrgs">) {
  if (isAllOrgs) return "all that you are in, and those that you join later";
  if (organizations.length === 0) return "none";
  return (
    <ul className="grid gap-1.5">
      {organizations.map(({ id, name, fullName, avatarId }) => (
        <li key={id} className="flex items-center gap-2">
          <Avatar name={fullName} src={avatarSrc(name, avatarId)} size="xs" kind="organization" />
          <bdi className="min-w-0 break-words">{fullName}</bdi>
        </li>
      ))}
    </ul>
  );
}
