import type { PresetField } from "#core/accounts/publishers/preset.ts";
import { type PresetName, presetNames, presets } from "#core/accounts/publishers/presets.ts";
import { issuerFieldOf } from "#core/hub/publishers/change-publishers.ts";
import { ActionForm } from "../action-form.client.tsx";
import { ButtonLink } from "../button.tsx";
import { Field, TextArea } from "../fields.client.tsx";
import { FormButtons } from "../form-buttons.tsx";
import type { FormAction } from "../form-state.ts";
import { InlineCode } from "../inline-code.tsx";
import { SectionCard } from "../page-layout.tsx";

type NewPublisherFormProps = Readonly<{
  preset: PresetName;
  action: FormAction;
  listHref: string;
  newHref: string;
}>;

const hints: Readonly<Record<PresetName, string>> = {
  github: "Jobs of one GitHub repository, optionally limited by branch, environment or workflow.",
  gitlab: "Jobs of one project on gitlab.com or your own GitLab installation.",
  circleci: "Jobs of one project. Jobs that were rerun with SSH are refused.",
  bitbucket: "Pipeline steps of one repository.",
  oidc: "Any service that issues ID tokens to its jobs and publishes its keys (OpenID Connect Discovery).",
};

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
            <FormButtons cancelHref={listHref}>Add publisher</FormButtons>
          </div>
        </SectionCard>
      </ActionForm>
    </div>
  );
}

function PresetInput({ field, isAddress }: Readonly<{ field: PresetField; isAddress: boolean }>) {
  const { name, label, hint, placeholder, isRequired } = field;
  const input = {
    name,
    label,
    hint: <InlineCode text={hint} />,
    placeholder,
    isOptional: !isRequired,
    autoComplete: "off",
    spellCheck: false,
  };
  if (placeholder.includes("\n")) return <TextArea {...input} isMono rows={4} />;
  return <Field {...input} autoCapitalize="none" {...(isAddress && { type: "url", inputMode: "url" as const })} />;
}
