import { PROVIDER_NAME_MAX_CHARACTERS } from "#core/accounts/identity-providers/parse-identity-provider.ts";
import { ActionForm } from "../../_components/action-form.client.tsx";
import { ChoiceRow } from "../../_components/choice-row.client.tsx";
import { CopyField } from "../../_components/copy-field.tsx";
import { Field } from "../../_components/field.client.tsx";
import { SectionCard } from "../../_components/section-card.tsx";
import { Select } from "../../_components/select.client.tsx";
import { SubmitButton } from "../../_components/submit-button.client.tsx";
import { addProviderAction } from "./actions.ts";

const kinds = [
  { value: "oidc", label: "OpenID Connect: any issuer" },
  { value: "google", label: "Google" },
  { value: "github", label: "GitHub" },
];

export function AddProvider({ redirectUri }: Readonly<{ redirectUri: string }>) {
  return (
    <SectionCard
      title="Add a provider"
      description="Register this service there first, as a web application with the redirect URI below; it gives you the client ID and the secret."
    >
      <ActionForm action={addProviderAction} label="Add a provider" className="grid max-w-reading gap-4">
        <Select name="kind" label="Kind" options={kinds} defaultValue="oidc" />
        <Field
          name="slug"
          label="Name in addresses"
          hint="Lower-case letters and digits, such as google or acme. It stays as it is."
          isMono
          autoCapitalize="none"
          autoComplete="off"
          spellCheck={false}
          maxLength={40}
        />
        <CopyField label="Redirect URI, with the name in place of NAME" value={redirectUri} />
        <Field
          name="name"
          label="Name on the button"
          hint="Needed for OpenID Connect; Google and GitHub have theirs."
          isOptional
          autoComplete="off"
          maxLength={PROVIDER_NAME_MAX_CHARACTERS}
        />
        <Field
          name="issuer"
          type="url"
          label="Issuer"
          hint="Such as https://id.example.com. Leave it empty for Google and for github.com."
          isMono
          isOptional
          autoComplete="off"
        />
        <Field name="clientId" label="Client ID" isMono autoComplete="off" autoCapitalize="none" spellCheck={false} />
        <Field
          name="clientSecret"
          type="password"
          label="Client secret"
          hint="Kept sealed and never shown again. Public clients have none."
          isMono
          isOptional
          autoComplete="off"
        />
        <Field
          name="scopes"
          label="Scopes"
          hint="Those that are usual for the kind unless given."
          isMono
          isOptional
          autoComplete="off"
        />
        <ChoiceRow
          type="checkbox"
          name="isSignUpAllowed"
          label="Make accounts for people who have none"
          hint="They keep the e-mail address that the provider has verified: you trust it with that too."
        />
        <div>
          <SubmitButton>Add provider</SubmitButton>
        </div>
      </ActionForm>
    </SectionCard>
  );
}
