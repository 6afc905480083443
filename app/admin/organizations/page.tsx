import { Building2, SearchX } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import { type ListedOrganization, listAllOrganizations } from "#core/accounts/organizations/find-organization.ts";
import { organizationPlans } from "#core/accounts/organizations/plans.ts";
import { Avatar, avatarSrc } from "../../_components/avatar.tsx";
import { ButtonLink } from "../../_components/button.tsx";
import { Chip } from "../../_components/chip.tsx";
import { EmptyState, ListPage, ListRow } from "../../_components/list.tsx";
import { planNames } from "../../_components/organization-wording.ts";
import { RelativeTime } from "../../_components/relative-time.tsx";
import { Filter, SearchForm } from "../../_components/search-form.tsx";
import { organizationPath } from "../../_server/organization-page.ts";
import { hrefWith, noticeOf, type PageQuery, searchOf, textOf } from "../../_server/page-query.ts";
import { requireOperator } from "../../_server/session.ts";
import { ORGANIZATIONS_PATH, organizationPlanPath } from "../paths.ts";

export const metadata: Metadata = { title: "Organizations · Administration" };

const plans = [...organizationPlans, "none"] as const;

export default async function AdminOrganizationsPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const query = await searchParams;
  const search = searchOf(query.search);
  const plan = plans.find((each) => each === textOf(query.plan));
  const operator = await requireOperator(ORGANIZATIONS_PATH);
  const organizations = await listAllOrganizations(operator, { text: search, plan, page: Number(textOf(query.page)) });
  return (
    <ListPage
      title="Organizations"
      description="All organizations, with their plans and administrators."
      notice={noticeOf({ plan: "Plan changed." }, query.notice)}
      label="Organizations"
      things="organizations"
      list={organizations}
      hrefOf={(page) => hrefWith(ORGANIZATIONS_PATH, { search, plan, page })}
      row={(organization) => <OrganizationRow key={organization.id} organization={organization} />}
      empty={<NoOrganizations isSearched={search !== "" || plan !== undefined} />}
    >
      <SearchForm action={ORGANIZATIONS_PATH} label="Name" value={search}>
        <Filter
          name="plan"
          label="Plan"
          value={plan}
          options={[
            { value: "none", label: planNames.free },
            ...organizationPlans.map((value) => ({ value, label: planNames[value] })),
          ]}
        />
      </SearchForm>
    </ListPage>
  );
}

function OrganizationRow({ organization }: Readonly<{ organization: ListedOrganization }>) {
  const { name, fullName, avatarId, plan, memberCount, exchangeAppCount, email, admin, createdAt } = organization;
  const contact = email ?? admin?.email;
  return (
    <ListRow
      leading={<Avatar name={fullName} src={avatarSrc(name, avatarId)} kind="organization" />}
      title={
        <>
          <Link prefetch={false} href={organizationPath(name)} className="link min-w-0 break-words">
            <bdi>{fullName}</bdi>
          </Link>
          <Chip>{planNames[plan ?? "free"]}</Chip>
          {exchangeAppCount > 0 && <Chip>Token exchange</Chip>}
        </>
      }
      meta={
        <>
          <span className="break-all">{name}</span> ·{" "}
          {memberCount === 1 ? "1 member" : `${memberCount.toLocaleString("en")} members`} · created{" "}
          <RelativeTime at={createdAt} />
          <span className="block">
            {contact ? (
              <>
                <a className="link break-all" href={`mailto:${contact}`}>
                  {contact}
                </a>
                {admin && ` · first administrator ${admin.username}`}
              </>
            ) : (
              "No administrator"
            )}
          </span>
        </>
      }
      trailing={
        <ButtonLink size="small" href={organizationPlanPath(name)}>
          Change plan<span className="sr-only"> of {fullName}</span>
        </ButtonLink>
      }
    />
  );
}

function NoOrganizations({ isSearched }: Readonly<{ isSearched: boolean }>) {
  if (isSearched) {
    return (
      <EmptyState
        Icon={SearchX}
        title="No organizations match"
        action={<ButtonLink href={ORGANIZATIONS_PATH}>Show all organizations</ButtonLink>}
      >
        Enter part of a name.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      Icon={Building2}
      title="No organizations yet"
      action={<ButtonLink href="/organizations/new">New organization</ButtonLink>}
    >
      Organizations that users create appear here.
    </EmptyState>
  );
}
