import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { isRecentlyAuthenticated } from "#core/access/may.ts";
import { findOrganizationByName } from "#core/accounts/organizations/find-organization.ts";
import { hasTokenExchange, organizationPlans } from "#core/accounts/organizations/plans.ts";
import { countExchangeApps } from "#core/accounts/organizations/set-plan.ts";
import { ActionForm, SubmitButton } from "../../../_components/action-form.client.tsx";
import { Choices } from "../../../_components/fields.client.tsx";
import { FormButtons } from "../../../_components/form-buttons.tsx";
import { planNames, planSentences } from "../../../_components/organization-wording.ts";
import { FormMessage, PageHeader, SectionCard } from "../../../_components/page-layout.tsx";
import { ProveIdentity } from "../../../_components/prove-identity.tsx";
import { type PageQuery, textOf } from "../../../_server/page-query.ts";
import { requireOperator } from "../../../_server/session.ts";
import { choosePlanAction, setPlanAction } from "../../actions.ts";
import { ORGANIZATIONS_PATH, organizationPlanPath } from "../../paths.ts";

type Props = Readonly<{ params: Promise<{ org: string }>; searchParams: PageQuery }>;

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  return { title: `Plan of ${(await params).org} · Administration` };
}

const choices = ["free", ...organizationPlans] as const;

export default async function OrganizationPlanPage({ params, searchParams }: Props) {
  const [{ org }, query] = await Promise.all([params, searchParams]);
  const page = organizationPlanPath(org);
  const operator = await requireOperator(page);
  const organization = await findOrganizationByName(org);
  if (!organization) notFound();
  const { id, name, fullName } = organization;
  const current = organization.plan ?? "free";
  const chosen = choices.find((each) => each === textOf(query.plan));
  const exchangeApps = await countExchangeApps(id);
  return (
    <>
      <PageHeader
        title={<bdi>{fullName}</bdi>}
        trail={[{ href: ORGANIZATIONS_PATH, label: "Organizations" }]}
        description={`The plan is ${planNames[current]}.`}
      />
      {!isRecentlyAuthenticated(operator) ? (
        <ProveIdentity returnTo={page}>Confirm your identity to change the plan.</ProveIdentity>
      ) : chosen !== undefined && chosen !== current ? (
        <SectionCard title={`Change the plan from ${planNames[current]} to ${planNames[chosen]}?`}>
          <ActionForm action={setPlanAction.bind(null, name)} className="grid max-w-reading gap-5">
            <input type="hidden" name="plan" value={chosen} />
            <p>{planSentences[chosen]}</p>
            {hasTokenExchange(current) && !hasTokenExchange(chosen) && <ExchangeEnds count={exchangeApps} />}
            {!hasTokenExchange(current) && hasTokenExchange(chosen) && exchangeApps > 0 && (
              <FormMessage>
                {appsOf(exchangeApps)} set up for token exchange: {exchangeApps === 1 ? "it" : "they"} will work immediately.
                Tokens from earlier exchanges stay revoked.
              </FormMessage>
            )}
            <FormButtons isGuarded cancelHref={page}>
              Change to {planNames[chosen]}
            </FormButtons>
          </ActionForm>
        </SectionCard>
      ) : (
        <SectionCard title="Plan">
          <ActionForm action={choosePlanAction.bind(null, name)} values={{ plan: current }} className="grid max-w-reading gap-5">
            <Choices
              legend={`Plan of ${fullName}`}
              isLegendHidden
              name="plan"
              options={choices.map((value) => ({ value, label: planNames[value], hint: planSentences[value] }))}
            />
            <SubmitButton>Continue</SubmitButton>
          </ActionForm>
        </SectionCard>
      )}
    </>
  );
}

/** The change revokes exchanged tokens (S95). */
function ExchangeEnds({ count }: Readonly<{ count: number }>) {
  return (
    <FormMessage tone="warn">
      Token exchange stops immediately: no new tokens are issued, and existing ones are revoked.{" "}
      {count === 0 ? "No app of the organization uses it." : `${appsOf(count)} set up for it.`}
    </FormMessage>
  );
}

const appsOf = (count: number): string => (count === 1 ? "1 app is" : `${count.toLocaleString("en")} apps are`);
