import { CalendarDays, Link2 } from "lucide-react";
import type { ReactNode } from "react";
import type { Owner } from "#core/accounts/handles/find-owner.ts";
import { Avatar } from "../_components/avatar.tsx";
import { avatarSrc } from "../_components/avatar-src.ts";
import { ButtonLink } from "../_components/button.tsx";
import { Chip } from "../_components/chip.tsx";
import { organizationPath } from "../_server/organization-page.ts";

export type OwnerHeaderProps = Readonly<{
  owner: Owner;
  isOneself: boolean;
  /** Of the organization; sees the way to its pages. */
  isMember: boolean;
}>;

const month = new Intl.DateTimeFormat("en", { month: "long", year: "numeric", timeZone: "UTC" });

export function OwnerHeader({ owner, isOneself, isMember }: OwnerHeaderProps) {
  const { kind, handle, fullName, website, avatarId, createdAt } = owner;
  return (
    <header className="flex flex-wrap items-start gap-x-5 gap-y-4">
      <Avatar
        name={fullName || handle}
        src={avatarSrc(handle, avatarId)}
        size="xl"
        kind={kind === "organization" ? "organization" : "person"}
      />
      <div className="min-w-0 flex-1 basis-56">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <h1 className="min-w-0 break-words">
            <bdi>{fullName || handle}</bdi>
          </h1>
          {kind === "organization" && <Chip>Organization</Chip>}
        </div>
        <p className="break-words text-muted">{handle}</p>
        <ul className="mt-3 grid gap-1 text-muted text-small">
          {website && (
            <Fact icon={<Link2 className="mt-0.5 size-4 shrink-0" aria-hidden="true" />}>
              <a href={website} rel="noopener noreferrer nofollow ugc" className="link break-all">
                {website.replace(/^https?:\/\/|\/$/g, "")}
              </a>
            </Fact>
          )}
          <Fact icon={<CalendarDays className="mt-0.5 size-4 shrink-0" aria-hidden="true" />}>
            Here since <time dateTime={createdAt.toISOString()}>{month.format(createdAt)}</time>
          </Fact>
        </ul>
      </div>
      {isOneself && <ButtonLink href="/settings/profile">Edit profile</ButtonLink>}
      {isMember && <ButtonLink href={organizationPath(handle)}>Manage</ButtonLink>}
    </header>
  );
}

function Fact({ icon, children }: Readonly<{ icon: ReactNode; children: ReactNode }>) {
  return (
    <li className="flex gap-2">
      {icon}
      <span className="min-w-0">{children}</span>
    </li>
  );
}
