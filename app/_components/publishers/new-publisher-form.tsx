import { type PresetField, type PresetName, presetNames, presets } from "#core/accounts/publishers/presets.ts";
import { issuerFieldOf } from "#core/hub/publishers/parse-publisher.ts";
import { ActionForm } from "../action-form.client.tsx";
import { ButtonLink } from "../button.tsx";
import { Field } from "../field.client.tsx";
import type { FormAction } from "../form-state.ts";
import { SectionCard } from "../section-card.tsx";
import { SubmitButton } from "../submit-button.client.tsx";
import { TextArea } from "../text-area.client.tsx";

export type NewPublisherFormProps = Readonly<{
  /** Where the jobs run. */
  preset: PresetName;
  action: FormAction;
  /** The list, and this page without a choice. */
  listHref: string;
  newHref: string;
}>;

const hints: Readonly<Record<PresetName, string>> = {
  github: "Jobs of one repository on GitHub, narrowed by branch, environment or workflow if you like.",
  gitlab: "Jobs of one project on gitlab.com or on an installation of your own.",
  circleci: "Jobs of one project. Those that somebody has started again with SSH are refused.",
  bitbucket: "Steps of one repository's pipelines.",
  oidc: "Any service that gives its jobs ID tokens and publishes the keys (OpenID Connect Discovery).",
};

/** Whom to trust, in the words of where the jobs run. */
export function NewPublisherForm({ preset, action, listHref, newHref }: NewPublisherFormProps) {
  return (
    <div className="grid gap-5">
      <nav aria-label="Where the jobs run" className="flex flex-wrap gap-2">
        {presetNames.map((name) => (
          <ButtonLink
            key={name}
            size="small"
            variant={name === preset ? "primary" : "secondary"}
            href={`${newHref}?from=${name}`}
            aria-current={name === preset ? "page" : undefined}
          >
            {presets[name].label}
          </ButtonLink>
        ))}
      </nav>
      <ActionForm key={preset} action={action} label={`New publisher: ${presets[preset].label}`}>
        <SectionCard title={presets[preset].label} description={hints[preset]}>
          <div className="grid max-w-reading gap-5">
            {presets[preset].fields.map((field) => (
              <PresetInput key={field.name} field={field} isAddress={field.name === issuerFieldOf(preset)} />
            ))}
          </div>
        </SectionCard>
        <div className="flex flex-wrap gap-3">
          <SubmitButton>Trust these jobs</SubmitButton>
          <ButtonLink href={listHref}>Cancel</ButtonLink>
        </div>
      </ActionForm>
    </div>
  );
}

function PresetInput({ field, isAddress }: Readonly<{ field: PresetField; isAddress: boolean }>) {
  const { name, label, hint, placeholder, isRequired } = field;
  const input = { name, label, hint, placeholder, isOptional: !isRequired, autoComplete: "off", spellCheck: false };
  if (placeholder.includes("\n")) return <TextArea {...input} isMono rows={4} />;
  return <Field {...input} autoCapitalize="none" {...(isAddress && { type: "url", inputMode: "url" as const })} />;
}
