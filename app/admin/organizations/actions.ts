"use server";

import { redirect } from "next/navigation";
import { findOrganizationByName } from "#core/accounts/organizations/find-organization.ts";
import { setPlan } from "#core/accounts/organizations/set-plan.ts";
import { notFound } from "#core/errors.ts";
import type { FormState } from "../../_components/form-state.ts";
import { submitForm } from "../../_server/form.ts";
import { requireOperator } from "../../_server/operator-page.ts";
import { requestOrigin } from "../../_server/request-origin.ts";
import { ORGANIZATIONS_PATH, organizationPlanPath } from "./organizations-path.ts";

/** Leads to what follows from a plan, before it is set. */
export async function choosePlanAction(name: string, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    await requireOperator(ORGANIZATIONS_PATH);
    redirect(`${organizationPlanPath(name)}?${new URLSearchParams({ plan: form.text("plan") })}`);
  });
}

export async function setPlanAction(name: string, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async (form) => {
      const operator = await requireOperator(ORGANIZATIONS_PATH);
      const organization = await findOrganizationByName(name);
      if (!organization) throw notFound("Organization");
      const plan = form.text("plan");
      await setPlan(operator, organization.id, plan === "free" ? null : plan, await requestOrigin());
      redirect(`${ORGANIZATIONS_PATH}?${new URLSearchParams({ search: organization.name, notice: "plan" })}`);
    },
    { page: organizationPlanPath(name) },
  );
}
