import { ShieldCheck } from "lucide-react";
import Link from "next/link";
import { redirect } from "next/navigation";
import {
  listMembersWithout,
  listRestrictedMembers,
  type MemberWithout,
  type RestrictedMember,
  securityRequirements,
} from "#core/accounts/organizations/security/list-restricted-members.ts";
import { readOrganizationSecurity } from "#core/accounts/organizations/security/organization-security.ts";
import type { Page } from "#core/accounts/page.ts";
import { Avatar, avatarSrc } from "../../../../_components/avatar.tsx";
import { ButtonLink } from "../../../../_components/button.tsx";
import { Chip } from "../../../../_components/chip.tsx";
import { EmptyState, ListRow, PagedList } from "../../../../_components/list.tsx";
import { roleNames } from "../../../../_components/organization-wording.ts";
import { PageColumn } from "../../../../_components/page-layout.tsx";
import {
  type OrganizationParams,
  organizationPath,
  organizationTitle,
  requireOrganizationPage,
} from "../../../../_server/organization-page.ts";
import { hrefWith, noticeOf, type PageQuery, textOf } from "../../../../_server/page-query.ts";
import { IssuerSection, RequirementSection } from "./sections.tsx";

type Props = Readonly<{ params: OrganizationParams; searchParams: PageQuery }>;

const notices = {
  on: "Requirement enabled.",
  off: "Requirement disabled.",
  "issuer-saved": "Issuer saved. Sign in with it to test it.",
  tried: "The issuer works: you have signed in with it.",
  "issuer-removed": "Issuer deleted. The accounts linked to it were unlinked.",
};

export const generateMetadata = organizationTitle("Sign-in requirements");

export default async function OrganizationSecurityPage({ params, searchParams }: Props) {
  const [{ org }, query] = await Promise.all([params, searchParams]);
  const { organization, person, isManager } = await requireOrganizationPage(org);
  const { name, id } = organization;
  if (!isManager) redirect(organizationPath(name, "members"));
  const path = organizationPath(name, "settings/security");
  const security = await readOrganizationSecurity(person, id);
  const page = Number(textOf(query.page));
  const requirement = securityRequirements.find(
    (each) => each === textOf(query.without) && (each === "second-step" || security.provider),
  );
  const without = requirement && (await listMembersWithout(person, id, requirement, { page }));
  const restricted = await listRestrictedMembers(person, id, { page: requirement ? 1 : page });
  const shown = without ?? restricted;
  if (shown.items.length === 0 && shown.page > 1) redirect(path);
  const notice = noticeOf(notices, query.notice);
  return (
    <PageColumn
      title="Sign-in requirements"
      description="What the organization requires of members before they, their apps and their tokens can access it."
      notice={notice}
    >
      <RequirementSection
        organization={organization}
        requirement="second-step"
        title="Second step"
        isRequired={security.requiresSecondStep}
        unmet={security.withoutSecondStep}
        members={security.members}
        ownStep={
          security.own.lacksSecondStep && (
            <>
              You do not meet this requirement yourself, so it would lock you out.{" "}
              <Link prefetch={false} className="link" href="/settings/security">
                Set up your second step
              </Link>{" "}
              first.
            </>
          )
        }
      />
      <IssuerSection
        organization={organization}
        provider={security.provider}
        isRequired={security.requiresProvider}
        path={path}
      />
      {security.provider && (
        <RequirementSection
          organization={organization}
          requirement="provider"
          title={`Sign-in with ${security.provider.name}`}
          isRequired={security.requiresProvider}
          unmet={security.withoutProvider}
          members={security.members}
          ownStep={
            security.own.lacksProvider &&
            "You have not signed in with the issuer in the last 7 days. Sign in with it above first."
          }
        />
      )}
      {requirement && without ? (
        <WithoutSection
          members={without}
          title={
            requirement === "provider"
              ? `Members who have not signed in with ${security.provider?.name}`
              : "Members without a second step"
          }
          path={path}
          hrefOf={(page) => `${path}?${new URLSearchParams({ without: requirement, page: String(page) })}#without`}
        />
      ) : (
        <RestrictedSection
          restricted={restricted}
          path={path}
          hasRequirements={security.requiresSecondStep || security.requiresProvider}
        />
      )}
    </PageColumn>
  );
}

const lacks: Partial<Record<RestrictedMember["restrictions"][number], string>> = {
  mfa: "no second step",
  sso: "not signed in with the issuer",
};

type RestrictedSectionProps = Readonly<{ restricted: Page<RestrictedMember>; path: string; hasRequirements: boolean }>;

function RestrictedSection({ restricted, path, hasRequirements }: RestrictedSectionProps) {
  return (
    <PagedList
      section={{ title: "Members without access" }}
      label="Members without access"
      things="members without access"
      list={restricted}
      hrefOf={(page) => hrefWith(path, { page })}
      row={({ username, fullName, avatarId, role, restrictions }) => (
        <ListRow
          key={username}
          leading={<Avatar name={fullName} src={avatarSrc(username, avatarId)} />}
          title={<bdi className="wrap-anywhere min-w-0">{fullName}</bdi>}
          meta={`${username} · ${roleNames[role]}`}
          trailing={restrictions.map((one) => (
            <Chip key={one} tone="warn">
              {lacks[one] ?? one}
            </Chip>
          ))}
        />
      )}
      empty={
        <EmptyState Icon={ShieldCheck} title={hasRequirements ? "Nobody" : "No requirements"}>
          {hasRequirements ? "All members meet the requirements." : "Members who do not meet a requirement appear here."}
        </EmptyState>
      }
    />
  );
}

type WithoutSectionProps = Readonly<{
  members: Page<MemberWithout>;
  title: string;
  path: string;
  hrefOf: (page: number) => string;
}>;

function WithoutSection({ members, title, path, hrefOf }: WithoutSectionProps) {
  const action = (
    <ButtonLink size="small" href={path}>
      Show members without access
    </ButtonLink>
  );
  return (
    <div id="without">
      <PagedList
        section={{ title, action }}
        label={title}
        things="members"
        list={members}
        hrefOf={hrefOf}
        row={({ username, fullName, avatarId, role }) => (
          <ListRow
            key={username}
            leading={<Avatar name={fullName} src={avatarSrc(username, avatarId)} />}
            title={<bdi className="wrap-anywhere min-w-0">{fullName}</bdi>}
            meta={`${username} · ${roleNames[role]}`}
          />
        )}
        empty={<p className="px-4 py-5 text-muted sm:px-5">All members meet this requirement.</p>}
      />
    </div>
  );
}
