import { Building2, SearchX } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import { redirect } from "next/navigation";
import { type ListedOrganization, listAllOrganizations } from "#core/accounts/organizations/list-all-organizations.ts";
import { organizationPlans } from "#core/accounts/organizations/plans.ts";
import { Avatar } from "../../_components/avatar.tsx";
import { avatarSrc } from "../../_components/avatar-src.ts";
import { ButtonLink } from "../../_components/button.tsx";
import { Card } from "../../_components/card.tsx";
import { Chip } from "../../_components/chip.tsx";
import { EmptyState } from "../../_components/empty-state.tsx";
import { FormMessage } from "../../_components/form-message.tsx";
import { List, ListRow } from "../../_components/list.tsx";
import { PageHeader } from "../../_components/page-header.tsx";
import { Pagination } from "../../_components/pagination.tsx";
import { planNames } from "../../_components/plan-names.ts";
import { RelativeTime } from "../../_components/relative-time.tsx";
import { SearchForm } from "../../_components/search-form.tsx";
import { Select } from "../../_components/select.client.tsx";
import { requireOperator } from "../../_server/operator-page.ts";
import { organizationPath } from "../../_server/organization-page.ts";
import { type PageQuery, searchOf, textOf } from "../../_server/page-query.ts";
import { ORGANIZATIONS_PATH, organizationPlanPath, organizationsPath } from "./organizations-path.ts";

export const metadata: Metadata = { title: "Organizations · Administration" };

const plans = [...organizationPlans, "none"] as const;

/** Every organization of the installation, with its plan and whom to write to. */
export default async function AdminOrganizationsPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const query = await searchParams;
  const search = searchOf(query.search);
  const plan = plans.find((each) => each === textOf(query.plan));
  const operator = await requireOperator(ORGANIZATIONS_PATH);
  const organizations = await listAllOrganizations(operator, { text: search, plan, page: Number(textOf(query.page)) });
  const { items, page, pageSize, total } = organizations;
  if (items.length === 0 && total > 0) redirect(organizationsPath({ search, plan, page: Math.ceil(total / pageSize) }));
  return (
    <>
      <PageHeader title="Organizations" description="Who works together here, on which plan, and whom to write to." />
      <div className="grid gap-5">
        {textOf(query.notice) === "plan" && <FormMessage tone="good">The plan is changed. It holds at once.</FormMessage>}
        <SearchForm action={ORGANIZATIONS_PATH} label="Name" value={search}>
          <div className="min-w-44">
            <Select
              name="plan"
              label="Plan"
              defaultValue={plan ?? ""}
              options={[
                { value: "", label: "Any" },
                { value: "none", label: planNames.free },
                ...organizationPlans.map((value) => ({ value, label: planNames[value] })),
              ]}
            />
          </div>
        </SearchForm>
        <div>
          <Card>
            {total === 0 ? (
              <NoOrganizations isSearched={search !== "" || plan !== undefined} />
            ) : (
              <List label="Organizations">
                {items.map((organization) => (
                  <OrganizationRow key={organization.id} organization={organization} />
                ))}
              </List>
            )}
          </Card>
          <Pagination
            label="organizations"
            page={page}
            pageSize={pageSize}
            total={total}
            hrefOf={(at) => organizationsPath({ search, plan, page: at })}
          />
        </div>
      </div>
    </>
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
          {memberCount === 1 ? "1 member" : `${memberCount.toLocaleString("en")} members`} · since <RelativeTime at={createdAt} />
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
        title="No organization is like that"
        action={<ButtonLink href={ORGANIZATIONS_PATH}>Show all organizations</ButtonLink>}
      >
        A name is found by any part of it.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      Icon={Building2}
      title="No organizations yet"
      action={<ButtonLink href="/organizations/new">New organization</ButtonLink>}
    >
      Organizations that people make stand here.
    </EmptyState>
  );
}
