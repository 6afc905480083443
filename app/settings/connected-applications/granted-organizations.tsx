import type { ConnectedApp } from "#core/oauth/consents/list-consents.ts";
import { Avatar } from "../../_components/avatar.tsx";
import { avatarSrc } from "../../_components/avatar-src.ts";

export type GrantedOrganizationsProps = Pick<ConnectedApp, "organizations" | "closedOrganizations" | "isAllOrgs">;

export function GrantedOrganizations({ organizations, closedOrganizations, isAllOrgs }: GrantedOrganizationsProps) {
  if (isAllOrgs) return <All closed={closedOrganizations} />;
  if (organizations.length === 0) return "none";
  return (
    <ul className="grid gap-1.5">
      {organizations.map(({ id, name, fullName, avatarId }) => (
        <li key={id} className="flex items-center gap-2">
          <Avatar name={fullName} src={avatarSrc(name, avatarId)} size="xs" kind="organization" />
          <span className="min-w-0 break-words">
            <bdi>{fullName}</bdi>
            {closedOrganizations.some((closed) => closed.id === id) && (
              <span className="block text-muted">keeps this app out by its own policy</span>
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** So many are named. */
const NAMED_MAX = 5;

function All({ closed }: Readonly<{ closed: ConnectedApp["closedOrganizations"] }>) {
  const more = closed.length - NAMED_MAX;
  return (
    <>
      all that you are in, and those that you join later
      {closed.length > 0 && (
        <span className="mt-1 block text-muted">
          except, by their own policy:{" "}
          {closed
            .slice(0, NAMED_MAX)
            .map(({ fullName }) => fullName)
            .join(", ")}
          {more > 0 && ` and ${more} more`}
        </span>
      )}
    </>
  );
}
