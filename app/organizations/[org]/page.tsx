import { ChevronRight, CircleCheck } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import type { ReactNode } from "react";
import { listAuditEntries } from "#core/accounts/audit-log/list-audit-entries.ts";
import { type OrganizationOverview, readOverview } from "#core/accounts/organizations/read-overview.ts";
import { counted } from "#core/counted.ts";
import { listReposWithRequests } from "#core/hub/gates/access-requests.ts";
import { listWebhooks } from "#core/webhooks/manage/find-webhook.ts";
import type { Webhook } from "#core/webhooks/manage/webhook.ts";
import { AuditRow } from "../../_components/audit/audit-row.tsx";
import { Avatar, avatarSrc } from "../../_components/avatar.tsx";
import { ButtonLink } from "../../_components/button.tsx";
import { Chip } from "../../_components/chip.tsx";
import { List, ListRow } from "../../_components/list.tsx";
import { LocalTime } from "../../_components/local-time.client.tsx";
import { planNames, planSentences, roleNames, yourRoleSentences } from "../../_components/organization-wording.ts";
import { PageColumn, SectionCard } from "../../_components/page-layout.tsx";
import { RelativeTime } from "../../_components/relative-time.tsx";
import { webhookName } from "../../_components/webhooks/webhook-list.tsx";
import {
  type OrganizationPage,
  type OrganizationParams,
  organizationPath,
  requireOrganizationPage,
} from "../../_server/organization-page.ts";
import { webhookPath } from "../../_server/paths.ts";
import { repoHref } from "../../_server/repo-page.ts";

type Props = Readonly<{ params: OrganizationParams }>;

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { organization } = await requireOrganizationPage((await params).org);
  return { title: organization.fullName };
}

export default async function OrganizationOverviewPage({ params }: Props) {
  const page = await requireOrganizationPage((await params).org);
  const { organization, person, role, isManager } = page;
  const { name, fullName, avatarId, plan, createdAt } = organization;
  const overview = await readOverview(person, organization.id);
  const { admin: admins } = overview.members;
  return (
    <PageColumn
      title={
        <span className="flex items-center gap-3">
          <Avatar name={fullName} src={avatarSrc(name, avatarId)} size="lg" kind="organization" />
          <bdi className="min-w-0 break-words">{fullName}</bdi>
        </span>
      }
      status={<Chip>{planNames[plan ?? "free"]}</Chip>}
      actions={<ButtonLink href={`/${name}`}>View profile</ButtonLink>}
    >
      {overview.waiting && <AttentionSection page={page} waiting={overview.waiting} admins={admins} />}
      {isManager && <RecentSection page={page} />}
      <SectionCard title="Summary">
        <dl className="grid gap-x-6 gap-y-4 sm:grid-cols-2">
          <Fact term="Members">
            <Link prefetch={false} className="link" href={organizationPath(name, "members")}>
              {counted(overview.memberCount, "member", "members")}
            </Link>
            , {counted(admins, "administrator", "administrators")}
          </Fact>
          <Fact term="Your role">
            {role ? (
              <>
                <strong>{roleNames[role]}</strong>: you can {yourRoleSentences[role]}.
              </>
            ) : (
              "None. You see this page as an operator of the service."
            )}
          </Fact>
          <Fact term="Name in URLs">
            <span className="break-all">{name}</span>
          </Fact>
          <Fact term="Created">
            <RelativeTime at={createdAt} />
          </Fact>
          <Fact term="Plan">
            <strong>{planNames[plan ?? "free"]}</strong>: {planSentences[plan ?? "free"]} The operator can change the plan.
          </Fact>
        </dl>
      </SectionCard>
    </PageColumn>
  );
}

const RECENT_SHOWN = 6;

async function RecentSection({ page: { organization, person } }: Readonly<{ page: OrganizationPage }>) {
  const { entries } = await listAuditEntries(person, { kind: "organization", orgId: organization.id }, { types: [], words: [] });
  const path = organizationPath(organization.name, "audit-log");
  return (
    <SectionCard
      title="Recent activity"
      action={
        <ButtonLink size="small" href={path}>
          Audit log
        </ButtonLink>
      }
      isFlush
    >
      <List label="Recent activity">
        {entries.slice(0, RECENT_SHOWN).map((entry) => (
          <AuditRow key={entry.id} entry={entry} href={`${path}/${entry.id}`} isOrganizationShown={false} />
        ))}
      </List>
    </SectionCard>
  );
}

type AttentionProps = Readonly<{
  page: OrganizationPage;
  waiting: NonNullable<OrganizationOverview["waiting"]>;
  admins: number;
}>;

async function AttentionSection({ page: { organization, person }, waiting, admins }: AttentionProps) {
  const { id, name } = organization;
  const [webhooks, repos] = await Promise.all([
    listWebhooks(person, { kind: "organization", id }),
    listReposWithRequests(person, id),
  ]);
  const items = [...failing(name, webhooks), ...accessRequests(repos), ...attentionTo(name, waiting, admins)];
  return (
    <SectionCard title="Needs attention" isFlush={items.length > 0}>
      {items.length === 0 ? (
        <p className="flex gap-2.5 text-muted">
          <CircleCheck className="mt-1 size-4 shrink-0 text-good" aria-hidden="true" />
          Nothing. Failing webhooks, requests, open invitations and unmet sign-in requirements appear here.
        </p>
      ) : (
        <List label="Needs attention">
          {items.map(({ title, meta, href, label }) => (
            <ListRow
              key={href + title}
              title={title}
              meta={meta}
              actions={
                <ButtonLink size="small" href={href}>
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

type Attention = Readonly<{ title: string; meta: ReactNode; href: string; label: string }>;

function failing(org: string, webhooks: readonly Webhook[]): Attention[] {
  return webhooks.flatMap((webhook) => {
    const { failingSince, disabledReason, disabledAt } = webhook;
    const isEnded = disabledReason === "failing" || disabledReason === "gone" || disabledReason === "grant_ended";
    const since = isEnded ? disabledAt : disabledReason === null ? failingSince : null;
    if (!since) return [];
    const meta = isEnded ? (
      <>
        Disabled <RelativeTime at={since} />
      </>
    ) : (
      <>
        All deliveries have failed since <LocalTime at={since} look="minute" />
      </>
    );
    return [{ title: `Webhook ${webhookName(webhook)}`, meta, href: webhookPath(org, webhook.id), label: "Deliveries" }];
  });
}

function accessRequests(repos: Awaited<ReturnType<typeof listReposWithRequests>>): Attention[] {
  return repos.map(({ repo, waiting }) => ({
    title: `${counted(waiting, "request", "requests")} for access to ${repo.name}`,
    meta: "Users can read its files once you accept their requests.",
    href: repoHref(repo, "settings", "access"),
    label: "Decide",
  }));
}

function attentionTo(
  org: string,
  { openInvitations, expiredInvitations, appRequests, restrictedMembers }: AttentionProps["waiting"],
  admins: number,
): Attention[] {
  const items: (Attention | false)[] = [
    appRequests > 0 && {
      title: counted(appRequests, "app is waiting for approval", "apps are waiting for approval"),
      meta: "Requested by members.",
      href: organizationPath(org, "settings/app-policy"),
      label: "Decide",
    },
    restrictedMembers > 0 && {
      title: counted(
        restrictedMembers,
        "member does not meet the sign-in requirements",
        "members do not meet the sign-in requirements",
      ),
      meta: "Until they do, they cannot access the organization.",
      href: organizationPath(org, "settings/security"),
      label: "Sign-in requirements",
    },
    expiredInvitations > 0 && {
      title: counted(expiredInvitations, "invitation has expired", "invitations have expired"),
      meta: "Invite again, or revoke.",
      href: organizationPath(org, "members"),
      label: "Invitations",
    },
    openInvitations > 0 && {
      title: counted(openInvitations, "open invitation", "open invitations"),
      meta: "Not accepted yet.",
      href: organizationPath(org, "members"),
      label: "Invitations",
    },
    admins === 1 && {
      title: "Only one administrator",
      meta: "If they lose their account, only the operator of the service can manage the organization. Invite a second administrator, or make another member one.",
      href: organizationPath(org, "members"),
      label: "Members",
    },
  ];
  return items.filter((item) => item !== false);
}
