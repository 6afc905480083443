import { organizationPlans } from "#core/accounts/organizations/plans.ts";
import type { AllowanceRow } from "#core/inference/metering/allowance.ts";
import { ActionForm } from "../../_components/action-form.client.tsx";
import { Field } from "../../_components/field.client.tsx";
import { List, ListRow } from "../../_components/list.tsx";
import { SectionCard } from "../../_components/section-card.tsx";
import { Select } from "../../_components/select.client.tsx";
import { SubmitButton } from "../../_components/submit-button.client.tsx";
import { removeAllowanceAction, setAllowanceAction } from "./actions.ts";

export type AllowancesSectionProps = Readonly<{ allowances: readonly AllowanceRow[]; isRecent: boolean }>;

/** What may be used in a month: by anybody, and by whom it is otherwise. */
export function AllowancesSection({ allowances, isRecent }: AllowancesSectionProps) {
  return (
    <SectionCard
      title="Allowance"
      description="For each calendar month (UTC). Tokens of an organization's apps count for the organization, all others for the person."
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
          <ActionForm action={setAllowanceAction} label="Set an allowance" className="grid max-w-reading gap-4">
            <Select
              name="subject"
              label="For"
              options={[
                { value: "user", label: "Every person" },
                { value: "organization", label: "Every organization" },
                ...organizationPlans.map((plan) => ({ value: `plan:${plan}`, label: `Organizations on the plan ${plan}` })),
                { value: "handle", label: "One user or organization" },
              ]}
            />
            <Field
              name="handle"
              label="Name of the user or organization"
              hint="Only for the last choice."
              isOptional
              autoCapitalize="none"
              autoComplete="off"
              maxLength={39}
            />
            <div className="grid grid-cols-1 gap-4 sm:grid-cols-2">
              <Field name="monthlyTokens" label="Tokens" hint="Empty: no limit." isOptional inputMode="numeric" maxLength={20} />
              <Field
                name="monthlyRequests"
                label="Requests"
                hint="Empty: no limit."
                isOptional
                inputMode="numeric"
                maxLength={20}
              />
            </div>
            <div>
              <SubmitButton variant="secondary">Set the allowance</SubmitButton>
            </div>
          </ActionForm>
        </div>
      )}
    </SectionCard>
  );
}

const isParticular = ({ subject }: AllowanceRow): boolean => subject !== "user" && subject !== "organization";

function nameOf({ subject, handle }: AllowanceRow): string {
  if (subject === "user") return "Every person";
  if (subject === "organization") return "Every organization";
  if (subject.startsWith("plan:")) return `Organizations on the plan ${subject.slice("plan:".length)}`;
  return handle ?? "An account that is gone";
}

function limitsOf({ monthlyTokens, monthlyRequests }: AllowanceRow): string {
  const limits = [
    monthlyTokens !== null && `${monthlyTokens.toLocaleString("en")} tokens`,
    monthlyRequests !== null && `${monthlyRequests.toLocaleString("en")} requests`,
  ].filter(Boolean);
  return limits.length > 0 ? limits.join(", ") : "without limit";
}

function Remove({ allowance }: Readonly<{ allowance: AllowanceRow }>) {
  return (
    <ActionForm action={removeAllowanceAction.bind(null, allowance.subject)} className="grid gap-2">
      <SubmitButton variant="quiet" size="small">
        Remove<span className="sr-only"> the allowance of {nameOf(allowance)}</span>
      </SubmitButton>
    </ActionForm>
  );
}
