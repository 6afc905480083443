import type { Metadata } from "next";
import Link from "next/link";
import { redirect } from "next/navigation";
import { listMembersWithout, securityRules } from "#core/accounts/organizations/security/list-members-without.ts";
import { listRestrictedMembers } from "#core/accounts/organizations/security/list-restricted-members.ts";
import { readOrganizationSecurity } from "#core/accounts/organizations/security/read-organization-security.ts";
import { FormMessage } from "../../../../_components/form-message.tsx";
import { PageHeader } from "../../../../_components/page-header.tsx";
import { type OrganizationParams, organizationPath, requireOrganizationPage } from "../../../../_server/organization-page.ts";
import { type PageQuery, textOf } from "../../../../_server/page-query.ts";
import { IssuerSection } from "./issuer-section.tsx";
import { RestrictedSection } from "./restricted-section.tsx";
import { RuleSection } from "./rule-section.tsx";
import { WithoutSection } from "./without-section.tsx";

type Props = Readonly<{ params: OrganizationParams; searchParams: PageQuery }>;

/** What just happened, said once after a redirect. */
const notices = new Map([
  ["on", "The rule holds from now on."],
  ["off", "The rule is taken back."],
  ["issuer-saved", "The issuer is saved. Sign in with it yourself to try it."],
  ["tried", "The issuer works: you have signed in with it."],
  ["issuer-removed", "The issuer is removed, and nobody is linked to it any more."],
]);

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { organization } = await requireOrganizationPage((await params).org);
  return { title: `Sign-in rules · ${organization.fullName}` };
}

export default async function OrganizationSecurityPage({ params, searchParams }: Props) {
  const [{ org }, query] = await Promise.all([params, searchParams]);
  const { organization, person, isManager } = await requireOrganizationPage(org);
  const { name, id } = organization;
  if (!isManager) redirect(organizationPath(name, "members"));
  const path = organizationPath(name, "settings/security");
  const security = await readOrganizationSecurity(person, id);
  const page = Number(textOf(query.page));
  const rule = securityRules.find((each) => each === textOf(query.without) && (each === "second-step" || security.provider));
  const without = rule && (await listMembersWithout(person, id, rule, { page }));
  const restricted = await listRestrictedMembers(person, id, { page: rule ? 1 : page });
  const shown = without ?? restricted;
  if (shown.items.length === 0 && shown.page > 1) redirect(path);
  const notice = notices.get(textOf(query.notice));
  return (
    <>
      <PageHeader
        title="Sign-in rules"
        description="What members have to show before they, and the apps and tokens that act for them, reach what is the organization's."
      />
      <div className="grid grid-cols-1 gap-5">
        {notice && <FormMessage tone="good">{notice}</FormMessage>}
        <RuleSection
          organization={organization}
          rule="second-step"
          title="Second step"
          isRequired={security.requiresSecondStep}
          unmet={security.withoutSecondStep}
          members={security.members}
          ownStep={
            security.own.lacksSecondStep && (
              <>
                You have not done it yourself, so it would shut you out too.{" "}
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
          <RuleSection
            organization={organization}
            rule="provider"
            title={`Sign-in with ${security.provider.name}`}
            isRequired={security.requiresProvider}
            unmet={security.withoutProvider}
            members={security.members}
            ownStep={
              security.own.lacksProvider && "You have not done it yourself in the last 7 days. Sign in with it above first."
            }
          />
        )}
        {rule && without ? (
          <WithoutSection
            members={without}
            title={
              rule === "provider"
                ? `Members who have not signed in with ${security.provider?.name}`
                : "Members without a second step"
            }
            path={path}
            hrefOf={(page) => `${path}?${new URLSearchParams({ without: rule, page: String(page) })}#without`}
          />
        ) : (
          <RestrictedSection
            restricted={restricted}
            path={path}
            hasRules={security.requiresSecondStep || security.requiresProvider}
          />
        )}
      </div>
    </>
  );
}
