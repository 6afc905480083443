import { ShieldCheck } from "lucide-react";
import type { RestrictedMember } from "#core/accounts/organizations/security/list-restricted-members.ts";
import type { Page } from "#core/accounts/page.ts";
import { Avatar } from "../../../../_components/avatar.tsx";
import { avatarSrc } from "../../../../_components/avatar-src.ts";
import { Chip } from "../../../../_components/chip.tsx";
import { EmptyState } from "../../../../_components/empty-state.tsx";
import { List, ListRow } from "../../../../_components/list.tsx";
import { Pagination } from "../../../../_components/pagination.tsx";
import { SectionCard } from "../../../../_components/section-card.tsx";

const lacks: Partial<Record<RestrictedMember["restrictions"][number], string>> = {
  mfa: "no second step",
  sso: "not signed in with the issuer",
};

export type RestrictedSectionProps = Readonly<{ restricted: Page<RestrictedMember>; path: string; hasRules: boolean }>;

/** Whom the rules shut out now. */
export function RestrictedSection({ restricted, path, hasRules }: RestrictedSectionProps) {
  const { items, page, pageSize, total } = restricted;
  return (
    <div>
      <SectionCard title="Members who are shut out now" isFlush>
        {items.length === 0 ? (
          <EmptyState Icon={ShieldCheck} title="Nobody is">
            {hasRules
              ? "Every member has met the rules."
              : "No rule holds. Require one above, and whoever has not met it is listed here."}
          </EmptyState>
        ) : (
          <List label="Members who are shut out">
            {items.map(({ username, fullName, avatarId, role, restrictions }) => (
              <ListRow
                key={username}
                leading={<Avatar name={fullName} src={avatarSrc(username, avatarId)} />}
                title={<bdi className="wrap-anywhere min-w-0">{fullName}</bdi>}
                meta={`${username} · ${role}`}
                trailing={restrictions.map((one) => (
                  <Chip key={one} tone="warn">
                    {lacks[one] ?? one}
                  </Chip>
                ))}
              />
            ))}
          </List>
        )}
      </SectionCard>
      <Pagination
        label="members who are shut out"
        page={page}
        pageSize={pageSize}
        total={total}
        hrefOf={(at) => `${path}?page=${at}`}
      />
    </div>
  );
}
