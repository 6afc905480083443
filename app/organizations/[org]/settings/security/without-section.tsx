import type { MemberWithout } from "#core/accounts/organizations/security/list-members-without.ts";
import type { Page } from "#core/accounts/page.ts";
import { Avatar } from "../../../../_components/avatar.tsx";
import { avatarSrc } from "../../../../_components/avatar-src.ts";
import { ButtonLink } from "../../../../_components/button.tsx";
import { List, ListRow } from "../../../../_components/list.tsx";
import { Pagination } from "../../../../_components/pagination.tsx";
import { SectionCard } from "../../../../_components/section-card.tsx";

export type WithoutSectionProps = Readonly<{
  members: Page<MemberWithout>;
  title: string;
  path: string;
  hrefOf: (page: number) => string;
}>;

/** Whom a rule would shut out, whether or not it holds. */
export function WithoutSection({ members, title, path, hrefOf }: WithoutSectionProps) {
  const { items, page, pageSize, total } = members;
  return (
    <div id="without">
      <SectionCard
        title={title}
        isFlush
        action={
          <ButtonLink size="small" href={path}>
            Show who is shut out now
          </ButtonLink>
        }
      >
        {items.length === 0 ? (
          <p className="px-4 py-5 text-muted sm:px-5">Every member has done it.</p>
        ) : (
          <List label={title}>
            {items.map(({ username, fullName, avatarId, role }) => (
              <ListRow
                key={username}
                leading={<Avatar name={fullName} src={avatarSrc(username, avatarId)} />}
                title={<bdi className="wrap-anywhere min-w-0">{fullName}</bdi>}
                meta={`${username} · ${role}`}
              />
            ))}
          </List>
        )}
      </SectionCard>
      <Pagination label="members" page={page} pageSize={pageSize} total={total} hrefOf={hrefOf} />
    </div>
  );
}
