import Link from "next/link";
import type { Member } from "#core/accounts/organizations/members/list-members.ts";
import { Avatar } from "../../../_components/avatar.tsx";
import { avatarSrc } from "../../../_components/avatar-src.ts";
import { ButtonLink } from "../../../_components/button.tsx";
import { Chip } from "../../../_components/chip.tsx";
import { ListRow } from "../../../_components/list.tsx";
import { RelativeTime } from "../../../_components/relative-time.tsx";

export type MemberRowProps = Readonly<{
  member: Member;
  isOneself: boolean;
  /** Where the role is changed, for those who may. */
  manageHref: string | undefined;
}>;

export function MemberRow({ member, isOneself, manageHref }: MemberRowProps) {
  const name = member.fullName || member.username;
  return (
    <ListRow
      leading={<Avatar name={name} src={avatarSrc(member.username, member.avatarId)} />}
      title={
        <>
          <Link prefetch={false} href={`/${member.username}`} className="link min-w-0 break-words">
            <bdi>{name}</bdi>
          </Link>
          {isOneself && <Chip>You</Chip>}
          {member.isDisabled && <Chip tone="warn">Account disabled</Chip>}
        </>
      }
      meta={
        <>
          {member.username} · <strong className="text-ink">{member.role}</strong> · since <RelativeTime at={member.memberSince} />
        </>
      }
      trailing={
        manageHref && (
          <ButtonLink href={manageHref} size="small">
            Manage<span className="sr-only"> {name}</span>
          </ButtonLink>
        )
      }
    />
  );
}
