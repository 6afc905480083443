import type { Organization } from "#core/accounts/organizations/find-organization.ts";
import { hasTokenExchange } from "#core/accounts/organizations/plans.ts";
import { env } from "#core/env.ts";
import { planNames, planSentences } from "../../_components/plan-names.ts";
import { SectionCard } from "../../_components/section-card.tsx";

/** What the plan gives, and whom to ask for another. */
export function PlanSection({ organization: { plan } }: Readonly<{ organization: Organization }>) {
  const name = plan ?? "free";
  return (
    <SectionCard title="Plan" description={`The operator of ${env().BRAND_NAME} sets it. Ask them for another.`}>
      <div className="grid gap-2">
        <p>
          <strong>{planNames[name]}.</strong> {planSentences[name]}
        </p>
        {!hasTokenExchange(plan) && (
          <p className="text-muted text-small">Token exchange takes the plan {planNames.enterprise}.</p>
        )}
      </div>
    </SectionCard>
  );
}
