import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { isRecentlyAuthenticated } from "#core/access/is-recently-authenticated.ts";
import { countExchangeApps } from "#core/accounts/organizations/count-exchange-apps.ts";
import { findOrganizationByName } from "#core/accounts/organizations/find-organization.ts";
import { hasTokenExchange, organizationPlans } from "#core/accounts/organizations/plans.ts";
import { ActionForm } from "../../../_components/action-form.client.tsx";
import { ButtonLink } from "../../../_components/button.tsx";
import { ChoiceRow } from "../../../_components/choice-row.client.tsx";
import { FormMessage } from "../../../_components/form-message.tsx";
import { PageHeader } from "../../../_components/page-header.tsx";
import { planNames, planSentences } from "../../../_components/plan-names.ts";
import { ProveIdentity } from "../../../_components/prove-identity.tsx";
import { SectionCard } from "../../../_components/section-card.tsx";
import { SubmitButton } from "../../../_components/submit-button.client.tsx";
import { requireOperator } from "../../../_server/operator-page.ts";
import { type PageQuery, textOf } from "../../../_server/page-query.ts";
import { choosePlanAction, setPlanAction } from "../actions.ts";
import { ORGANIZATIONS_PATH, organizationPlanPath } from "../organizations-path.ts";

type Props = Readonly<{ params: Promise<{ org: string }>; searchParams: PageQuery }>;

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  return { title: `Plan of ${(await params).org} · Administration` };
}

const choices = ["free", ...organizationPlans] as const;

/** The plan of one organization: chosen first, then done, with what follows from it in between. */
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
        <ProveIdentity returnTo={page}>To change the plan, confirm that it is you.</ProveIdentity>
      ) : chosen !== undefined && chosen !== current ? (
        <SectionCard title={`Change the plan from ${planNames[current]} to ${planNames[chosen]}?`}>
          <ActionForm action={setPlanAction.bind(null, name)} className="grid max-w-reading gap-5">
            <input type="hidden" name="plan" value={chosen} />
            <p>{planSentences[chosen]}</p>
            {hasTokenExchange(current) && !hasTokenExchange(chosen) && <ExchangeEnds count={exchangeApps} />}
            {!hasTokenExchange(current) && hasTokenExchange(chosen) && exchangeApps > 0 && (
              <FormMessage>
                {appsOf(exchangeApps)} set up for token exchange: {exchangeApps === 1 ? "it works" : "they work"} from now on.
                Tokens from before that have not run out work again too.
              </FormMessage>
            )}
            <div className="flex flex-wrap gap-3">
              <SubmitButton>Change to {planNames[chosen]}</SubmitButton>
              <ButtonLink variant="quiet" href={page}>
                Cancel
              </ButtonLink>
            </div>
          </ActionForm>
        </SectionCard>
      ) : (
        <SectionCard title="Plan">
          <ActionForm action={choosePlanAction.bind(null, name)} values={{ plan: current }} className="grid max-w-reading gap-5">
            <fieldset className="grid gap-2">
              <legend className="sr-only">Plan of {fullName}</legend>
              {choices.map((each) => (
                <ChoiceRow
                  key={each}
                  type="radio"
                  name="plan"
                  value={each}
                  isBoxed
                  label={planNames[each]}
                  hint={planSentences[each]}
                />
              ))}
            </fieldset>
            <div>
              <SubmitButton>Continue</SubmitButton>
            </div>
          </ActionForm>
        </SectionCard>
      )}
    </>
  );
}

/** Said before it is done: exchange looks at the plan with each use of a token. */
function ExchangeEnds({ count }: Readonly<{ count: number }>) {
  return (
    <FormMessage tone="warn">
      Token exchange stops at once: no new tokens are issued, and those that are out are refused from their next request.{" "}
      {count === 0 ? "No app of the organization uses it." : `${appsOf(count)} using it, and whatever runs on them fails.`}
    </FormMessage>
  );
}

const appsOf = (count: number): string => (count === 1 ? "1 app is" : `${count.toLocaleString("en")} apps are`);
