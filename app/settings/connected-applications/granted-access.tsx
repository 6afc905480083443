import { describeScope, type Scope } from "@keyhook/sdk";
import type { ConnectedApp } from "#core/oauth/consents/list-consents.ts";
import { Avatar, avatarSrc } from "../../_components/avatar.tsx";
import { ScopeDanger, scopeIcons } from "../../_components/scopes.tsx";

type GrantedOrganizationsProps = Pick<ConnectedApp, "organizations" | "closedOrganizations" | "isAllOrgs">;

export function GrantedOrganizations({ organizations, closedOrganizations, isAllOrgs }: GrantedOrganizationsProps) {
  if (isAllOrgs) return <All closed={closedOrganizations} />;
  if (organizations.length === 0) return "None";
  return (
    <ul className="grid gap-1.5">
      {organizations.map(({ id, name, fullName, avatarId }) => (
        <li key={id} className="flex items-center gap-2">
          <Avatar name={fullName} src={avatarSrc(name, avatarId)} size="xs" kind="organization" />
          <span className="min-w-0 break-words">
            <bdi>{fullName}</bdi>
            {closedOrganizations.some((closed) => closed.id === id) && (
              <span className="block text-muted">does not allow this app</span>
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}

const NAMED_MAX = 5;

function All({ closed }: Readonly<{ closed: ConnectedApp["closedOrganizations"] }>) {
  const more = closed.length - NAMED_MAX;
  return (
    <>
      all current and future organizations
      {closed.length > 0 && (
        <span className="mt-1 block text-muted">
          except those that do not allow it:{" "}
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

const SHOWN_AT_FIRST = 5;

export function GrantedScopes({ scopes }: Readonly<{ scopes: readonly Scope[] }>) {
  if (scopes.length === 0) return "nothing";
  const danger = (scope: Scope) => Number(describeScope(scope).isDangerous ?? false);
  const sorted = [...scopes].sort((a, b) => danger(b) - danger(a));
  const [firsts, rest] = [sorted.slice(0, SHOWN_AT_FIRST), sorted.slice(SHOWN_AT_FIRST)];
  return (
    <>
      <Sentences scopes={firsts} />
      {rest.length > 0 && (
        <details className="mt-1">
          <summary className="link inline-block text-muted">and {rest.length} more</summary>
          <div className="mt-1">
            <Sentences scopes={rest} />
          </div>
        </details>
      )}
    </>
  );
}

function Sentences({ scopes }: Readonly<{ scopes: readonly Scope[] }>) {
  return (
    <ul className="grid gap-1">
      {scopes.map((scope) => {
        const Icon = scopeIcons[scope];
        return (
          <li key={scope} className="flex items-start gap-2.5">
            <Icon className="mt-0.5 size-4 shrink-0 text-muted" aria-hidden="true" />
            <span className="flex min-w-0 flex-wrap items-center gap-x-2">
              {describeScope(scope).sentence}
              <ScopeDanger scope={scope} />
            </span>
          </li>
        );
      })}
    </ul>
  );
}
