import { operatorCommand } from "#core/access/actor.ts";
import { countExchangeApps } from "#core/accounts/organizations/count-exchange-apps.ts";
import { findOrganization } from "#core/accounts/organizations/find-organization.ts";
import { hasTokenExchange, organizationPlans } from "#core/accounts/organizations/plans.ts";
import { setPlan } from "#core/accounts/organizations/set-plan.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { command } from "./command.ts";
import { findOrganizationNamed } from "./find-named.ts";

const choices = ["free", ...organizationPlans] as const;

export const orgSetPlan = command({
  name: "org set-plan",
  summary: "Sets the plan of an organization.",
  notes: ["Token exchange works with enterprise and plus. Taking them away ends it at once, the tokens that are out too."],
  options: {
    org: { value: "ORG", help: "the organization", isRequired: true },
    plan: { value: "PLAN", help: choices.join(", "), isRequired: true, choices },
  },
  async run({ org, plan }) {
    const orgId = await findOrganizationNamed(org);
    const before = (await findOrganization(orgId))?.plan ?? null;
    const after = plan === "free" ? null : plan;
    await setPlan(operatorCommand, orgId, after, noOrigin);
    const stopped = hasTokenExchange(before) && !hasTokenExchange(after) ? await countExchangeApps(orgId) : 0;
    const ended = stopped === 1 ? "1 app" : `${stopped} apps`;
    return {
      json: { organization_id: orgId, plan: after, stopped_apps: stopped },
      text: `The plan of ${org} is ${plan}.${stopped > 0 ? ` Token exchange by ${ended} has stopped.` : ""}`,
    };
  },
});
