import { PROVIDER_NAME_MAX_CHARACTERS } from "#core/inference/providers/provider.ts";
import { ActionForm } from "../../_components/action-form.client.tsx";
import { ChoiceRow } from "../../_components/choice-row.client.tsx";
import { Field } from "../../_components/field.client.tsx";
import { SectionCard } from "../../_components/section-card.tsx";
import { SubmitButton } from "../../_components/submit-button.client.tsx";
import { addProviderAction } from "./actions.ts";

/** One more provider; its models come after it was tested. */
export function NewProvider() {
  return (
    <SectionCard
      title="Add a provider"
      description="Requests go there with its key, which is kept encrypted and shown to nobody again."
    >
      <ActionForm action={addProviderAction} label="Add a provider" className="grid max-w-reading gap-4">
        <Field
          name="name"
          label="Name"
          hint="People see it beside its models."
          autoComplete="off"
          maxLength={PROVIDER_NAME_MAX_CHARACTERS}
        />
        <Field
          name="baseUrl"
          type="url"
          label="Base address"
          hint="What stands before /chat/completions, such as https://api.example.com/v1."
          isMono
          autoCapitalize="none"
          autoComplete="off"
          spellCheck={false}
          maxLength={500}
        />
        <Field name="apiKey" type="password" label="API key" isOptional isMono autoComplete="off" maxLength={1000} />
        <ChoiceRow
          type="checkbox"
          name="isOwnNetworkAllowed"
          label="It is in your own network"
          hint="Lets requests go to a private address, and in the clear where the address begins with http://."
        />
        <div>
          <SubmitButton>Add provider</SubmitButton>
        </div>
      </ActionForm>
    </SectionCard>
  );
}
