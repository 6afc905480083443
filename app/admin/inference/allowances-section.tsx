import { type OrganizationPlan, organizationPlans } from "#core/accounts/organizations/plans.ts";
import { counted } from "#core/counted.ts";
import type { AllowanceRow } from "#core/inference/metering/allowance.ts";
import { ActionButton, ActionForm, SubmitButton } from "../../_components/action-form.client.tsx";
import { Field, Select } from "../../_components/fields.client.tsx";
import { List, ListRow } from "../../_components/list.tsx";
import { planNames } from "../../_components/organization-wording.ts";
import { SectionCard } from "../../_components/page-layout.tsx";
import { removeAllowanceAction, setAllowanceAction } from "./actions.ts";

type AllowancesSectionProps = Readonly<{ allowances: readonly AllowanceRow[]; isRecent: boolean }>;

export function AllowancesSection({ allowances, isRecent }: AllowancesSectionProps) {
  return (
    <SectionCard
      title="Allowance"
      description="Per calendar month (UTC). Usage with exchanged tokens counts toward the organization's allowance, all other usage toward the user's."
      isFlush
    >
      <List label="Allowances">
        {allowances.map((allowance) => (
          <ListRow
            key={allowance.subject}
            title={<span className="wrap-anywhere min-w-0">{nameOf(allowance)}</span>}
            meta={limitsOf(allowance)}
            trailing={isRecent && isParticular(allowance) && <Remove allowance={allowance} />}
          />
        ))}
      </List>
      {isRecent && (
        <div className="border-line border-t px-4 py-5 sm:px-5">
          <ActionForm action={setAllowanceAction} label="Set an allowance" className="group/for grid max-w-reading gap-4">
            <Select
              name="subject"
              label="For"
              options={[
                { value: "user", label: "Every user" },
                { value: "organization", label: "Every organization" },
                ...organizationPlans.map((plan) => ({
                  value: `plan:${plan}`,
                  label: `Organizations on the ${planNames[plan]} plan`,
                })),
                { value: "handle", label: "One user or organization" },
              ]}
            />
            <div className="hidden group-has-[option[value=handle]:checked]/for:block">
              <Field
                name="handle"
                label="Name of the user or organization"
                isOptional
                autoCapitalize="none"
                autoComplete="off"
                maxLength={39}
              />
            </div>
            <div className="grid grid-cols-1 gap-4 sm:grid-cols-2">
              <Field
                name="monthlyTokens"
                label="Tokens"
                hint="Leave empty for no limit."
                isOptional
                inputMode="numeric"
                maxLength={20}
              />
              <Field
                name="monthlyRequests"
                label="Requests"
                hint="Leave empty for no limit."
                isOptional
                inputMode="numeric"
                maxLength={20}
              />
            </div>
            <SubmitButton variant="secondary">Set allowance</SubmitButton>
          </ActionForm>
        </div>
      )}
    </SectionCard>
  );
}

const isParticular = ({ subject }: AllowanceRow): boolean => subject !== "user" && subject !== "organization";

function nameOf({ subject, handle }: AllowanceRow): string {
  if (subject === "user") return "Every user";
  if (subject === "organization") return "Every organization";
  if (subject.startsWith("plan:"))
    return `Organizations on the ${planNames[subject.slice("plan:".length) as OrganizationPlan]} plan`;
  return handle ?? "A deleted account";
}

function limitsOf({ monthlyTokens, monthlyRequests }: AllowanceRow): string {
  const limits = [
    monthlyTokens !== null && counted(monthlyTokens, "token"),
    monthlyRequests !== null && counted(monthlyRequests, "request"),
  ].filter(Boolean);
  return limits.length > 0 ? limits.join(", ") : "no limit";
}

function Remove({ allowance }: Readonly<{ allowance: AllowanceRow }>) {
  return (
    <ActionButton action={removeAllowanceAction.bind(null, allowance.subject)} variant="quiet">
      Delete<span className="sr-only"> the allowance of {nameOf(allowance)}</span>
    </ActionButton>
  );
}
