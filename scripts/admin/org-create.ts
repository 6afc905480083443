import { operatorCommand } from "#core/access/actor.ts";
import { createOrganization } from "#core/accounts/organizations/create-organization.ts";
import { organizationPlans } from "#core/accounts/organizations/plans.ts";
import { setPlan } from "#core/accounts/organizations/set-plan.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { command } from "./command.ts";
import { findUserNamed } from "./find-named.ts";

export const orgCreate = command({
  name: "org create",
  summary: "Makes an organization. Its owner becomes its administrator.",
  options: {
    name: { value: "NAME", help: "the handle under which its repositories live", isRequired: true },
    owner: { value: "USER", help: "the first administrator", isRequired: true },
    "full-name": { value: "NAME", help: "the name that people read", field: "fullName" },
    plan: { value: "PLAN", help: `one of ${organizationPlans.join(", ")}; none when left out`, choices: organizationPlans },
  },
  async run({ name, owner, "full-name": fullName, plan }) {
    const ownerId = await findUserNamed(owner);
    const organization = await createOrganization(operatorCommand, { name, fullName, ownerId }, noOrigin);
    if (plan) await setPlan(operatorCommand, organization.id, plan, noOrigin);
    return {
      json: { id: organization.id, name: organization.name, plan: plan ?? null },
      text: `Organization ${organization.name}${plan ? ` (${plan})` : ""}, administered by ${owner}.\nid: ${organization.id}`,
    };
  },
});
