import { ChevronRight, CircleCheck } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import type { ReactNode } from "react";
import { readOverview } from "#core/accounts/organizations/read-overview.ts";
import { Avatar } from "../../_components/avatar.tsx";
import { avatarSrc } from "../../_components/avatar-src.ts";
import { ButtonLink } from "../../_components/button.tsx";
import { Chip } from "../../_components/chip.tsx";
import { List, ListRow } from "../../_components/list.tsx";
import { PageHeader } from "../../_components/page-header.tsx";
import { planNames } from "../../_components/plan-names.ts";
import { RelativeTime } from "../../_components/relative-time.tsx";
import { yourRoleSentences } from "../../_components/role-sentences.ts";
import { SectionCard } from "../../_components/section-card.tsx";
import { type OrganizationParams, organizationPath, requireOrganizationPage } from "../../_server/organization-page.ts";
import { attentionTo } from "./attention.ts";
import { PlanSection } from "./plan-section.tsx";
import { partsFor } from "./sections.ts";

type Props = Readonly<{ params: OrganizationParams }>;

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { organization } = await requireOrganizationPage((await params).org);
  return { title: organization.fullName };
}

/** Where a member begins: what the organization is, what waits for them, and where everything else is. */
export default async function OrganizationPage({ params }: Props) {
  const { organization, person, role, isManager } = await requireOrganizationPage((await params).org);
  const { name, fullName, avatarId, plan, createdAt } = organization;
  const overview = await readOverview(person, organization.id);
  const { admin: admins } = overview.members;
  return (
    <>
      <PageHeader
        title={
          <span className="flex items-center gap-3">
            <Avatar name={fullName} src={avatarSrc(name, avatarId)} size="lg" kind="organization" />
            <bdi className="min-w-0 break-words">{fullName}</bdi>
          </span>
        }
        status={<Chip>{planNames[plan ?? "free"]}</Chip>}
        actions={<ButtonLink href={`/${name}`}>View profile</ButtonLink>}
      />
      <div className="grid grid-cols-1 gap-5">
        {overview.waiting && <AttentionSection name={name} items={attentionTo(overview.waiting, admins)} />}
        <SectionCard title="At a glance">
          <dl className="grid gap-x-6 gap-y-4 sm:grid-cols-2">
            <Fact term="Members">
              <Link prefetch={false} className="link" href={organizationPath(name, "members")}>
                {people(overview.memberCount)}
              </Link>
              , {admins === 1 ? "1 administrator" : `${admins.toLocaleString("en")} administrators`}
            </Fact>
            <Fact term="Your role">
              {role ? (
                <>
                  <strong>{role}</strong>: you may {yourRoleSentences[role]}.
                </>
              ) : (
                "None. You see this as an operator of the service."
              )}
            </Fact>
            <Fact term="Name in addresses">
              <span className="break-all">{name}</span>
            </Fact>
            <Fact term="Here since">
              <RelativeTime at={createdAt} />
            </Fact>
          </dl>
        </SectionCard>
        <PlanSection organization={organization} />
        <SectionCard title="Where things are" isFlush>
          <List>
            {partsFor({ isManager, role })
              .filter(({ page }) => page !== "")
              .map(({ page, label, hint }) => (
                <ListRow
                  key={page}
                  title={
                    <Link prefetch={false} className="link" href={organizationPath(name, page)}>
                      {label}
                    </Link>
                  }
                  meta={hint}
                />
              ))}
          </List>
        </SectionCard>
      </div>
    </>
  );
}

function AttentionSection({ name, items }: Readonly<{ name: string; items: ReturnType<typeof attentionTo> }>) {
  return (
    <SectionCard title="Waiting for you" isFlush={items.length > 0}>
      {items.length === 0 ? (
        <p className="flex gap-2.5 text-muted">
          <CircleCheck className="mt-1 size-4 shrink-0 text-good" aria-hidden="true" />
          Nothing. Open invitations, apps that members ask for and unmet sign-in rules stand here.
        </p>
      ) : (
        <List>
          {items.map(({ title, meta, page, label }) => (
            <ListRow
              key={title}
              title={title}
              meta={meta}
              trailing={
                <ButtonLink size="small" href={organizationPath(name, page)}>
                  {label}
                  <ChevronRight className="size-4" aria-hidden="true" />
                </ButtonLink>
              }
            />
          ))}
        </List>
      )}
    </SectionCard>
  );
}

function Fact({ term, children }: Readonly<{ term: string; children: ReactNode }>) {
  return (
    <div className="min-w-0">
      <dt className="text-muted text-small">{term}</dt>
      <dd className="break-words">{children}</dd>
    </div>
  );
}

const people = (count: number): string => (count === 1 ? "1 member" : `${count.toLocaleString("en")} members`);
