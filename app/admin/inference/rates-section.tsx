import type { InferenceRates } from "#core/inference/metering/rates.ts";
import { ActionForm } from "../../_components/action-form.client.tsx";
import { Field } from "../../_components/field.client.tsx";
import { SectionCard } from "../../_components/section-card.tsx";
import { SubmitButton } from "../../_components/submit-button.client.tsx";
import { setRatesAction } from "./actions.ts";

export type RatesSectionProps = Readonly<{ rates: InferenceRates; isRecent: boolean }>;

/** How many requests a minute anybody may make. */
export function RatesSection({ rates: { perUser, perApp }, isRecent }: RatesSectionProps) {
  return (
    <SectionCard title="Rates" description="Requests a minute. Whoever asks more often is told how long to wait.">
      {isRecent ? (
        <ActionForm
          action={setRatesAction}
          values={{ perUser: String(perUser), perApp: String(perApp) }}
          label="Rates"
          className="grid max-w-reading gap-4"
        >
          <div className="grid grid-cols-1 gap-4 sm:grid-cols-2">
            <Field name="perUser" label="A person" inputMode="numeric" maxLength={6} />
            <Field name="perApp" label="An app, for all who use it" inputMode="numeric" maxLength={6} />
          </div>
          <div>
            <SubmitButton variant="secondary">Save the rates</SubmitButton>
          </div>
        </ActionForm>
      ) : (
        <p>
          {perUser.toLocaleString("en")} for a person, {perApp.toLocaleString("en")} for an app.
        </p>
      )}
    </SectionCard>
  );
}
