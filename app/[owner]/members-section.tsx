import Link from "next/link";
import type { Person } from "#core/access/actor.ts";
import type { Owner } from "#core/accounts/handles/find-owner.ts";
import { listMembers } from "#core/accounts/organizations/members/list-members.ts";
import { Avatar } from "../_components/avatar.tsx";
import { avatarSrc } from "../_components/avatar-src.ts";
import { List, ListRow } from "../_components/list.tsx";
import { Pagination } from "../_components/pagination.tsx";
import { SectionCard } from "../_components/section-card.tsx";

export type MembersSectionProps = Readonly<{ owner: Owner; person: Person; page: number }>;

/** Who is in the organization: for its members alone. */
export async function MembersSection({ owner, person, page }: MembersSectionProps) {
  const members = await listMembers(person, owner.id, { page });
  return (
    <div className="mt-7">
      <SectionCard title="Members" description="Only members see this list." isFlush>
        <List>
          {members.items.map(({ userId, username, fullName, avatarId, role }) => (
            <ListRow
              key={userId}
              leading={<Avatar name={fullName || username} src={avatarSrc(username, avatarId)} />}
              title={
                <Link prefetch={false} href={`/${username}`} className="link min-w-0 break-words">
                  <bdi>{fullName || username}</bdi>
                </Link>
              }
              meta={`${username} · ${role}`}
            />
          ))}
        </List>
      </SectionCard>
      <Pagination
        label="members"
        page={members.page}
        pageSize={members.pageSize}
        total={members.total}
        hrefOf={(at) => `/${owner.handle}?page=${at}`}
      />
    </div>
  );
}
