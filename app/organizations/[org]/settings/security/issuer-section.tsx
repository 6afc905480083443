import { organizationSlug, redirectUriOf } from "#core/accounts/identity-providers/identity-provider.ts";
import { PROVIDER_NAME_MAX_CHARACTERS } from "#core/accounts/identity-providers/parse-identity-provider.ts";
import type { OrganizationSecurity } from "#core/accounts/organizations/security/read-organization-security.ts";
import { ActionForm } from "../../../../_components/action-form.client.tsx";
import { buttonClass } from "../../../../_components/button.tsx";
import { Chip } from "../../../../_components/chip.tsx";
import { ConfirmDestructive } from "../../../../_components/confirm-destructive.client.tsx";
import { CopyField } from "../../../../_components/copy-field.tsx";
import { Field } from "../../../../_components/field.client.tsx";
import { SectionCard } from "../../../../_components/section-card.tsx";
import { SubmitButton } from "../../../../_components/submit-button.client.tsx";
import { elsewherePath } from "../../../../_server/elsewhere.ts";
import { removeIssuerAction, saveIssuerAction } from "./actions.ts";

type Provider = NonNullable<OrganizationSecurity["provider"]>;

export type IssuerSectionProps = Readonly<{
  organization: Readonly<{ id: string; name: string }>;
  provider: Provider | null;
  isRequired: boolean;
  /** This page. */
  path: string;
}>;

/** The organization's own issuer: what to register there, what it gave, and a way to try it. */
export function IssuerSection({ organization, provider, isRequired, path }: IssuerSectionProps) {
  return (
    <SectionCard
      title="The organization's issuer"
      description="An OpenID Connect provider that you run or rent. Members show with it that they still belong to you; it signs nobody in to their account here."
      action={provider?.isDisabled && <Chip tone="warn">disabled by the operator</Chip>}
    >
      <div className="grid max-w-reading gap-5">
        <CopyField label="Redirect URI to register there" value={redirectUriOf(organizationSlug(organization.id))} />
        {provider ? (
          <SavedIssuer organization={organization} provider={provider} isRequired={isRequired} path={path} />
        ) : (
          <ActionForm action={saveIssuerAction.bind(null, organization.name)} label="Set up the issuer" className="grid gap-4">
            <Field
              name="issuer"
              type="url"
              label="Issuer"
              hint="Such as https://id.example.com. Its discovery document is read when you save."
              isMono
              autoComplete="off"
            />
            <IssuerFields secretHint="Kept sealed and never shown again. Public clients have none." />
            <div>
              <SubmitButton variant="secondary">Save the issuer</SubmitButton>
            </div>
          </ActionForm>
        )}
      </div>
    </SectionCard>
  );
}

function SavedIssuer({ organization, provider, isRequired, path }: IssuerSectionProps & Readonly<{ provider: Provider }>) {
  const { slug, name, issuer, clientId, hasSecret, linked } = provider;
  const people = linked === 1 ? "1 account is linked to it" : `${linked.toLocaleString("en")} accounts are linked to it`;
  return (
    <>
      <p>
        <bdi className="wrap-anywhere block font-medium">{name}</bdi>
        <code className="block break-all text-muted text-small">{issuer}</code>
        <span className="text-muted text-small">{people}.</span>
      </p>
      <div className="flex flex-wrap items-start gap-2">
        <a
          className={buttonClass({ variant: "secondary" }, "min-w-0 max-w-full")}
          href={elsewherePath(slug, { next: `${path}?notice=tried` })}
        >
          <span className="truncate">Sign in with {name}</span>
        </a>
      </div>
      <details>
        <summary className={buttonClass({ size: "small" })}>Edit the issuer</summary>
        <ActionForm
          action={saveIssuerAction.bind(null, organization.name)}
          label="Edit the issuer"
          values={{ name, clientId }}
          className="mt-3 grid gap-4"
        >
          <IssuerFields secretHint={hasSecret ? "Left empty, the present one stays." : "There is none."} />
          <div>
            <SubmitButton variant="secondary" size="small">
              Save the issuer
            </SubmitButton>
          </div>
        </ActionForm>
      </details>
      {isRequired ? (
        <p className="text-muted text-small">To remove the issuer, take the rule below back first.</p>
      ) : (
        <ConfirmDestructive
          action={removeIssuerAction.bind(null, organization.name)}
          trigger="Remove the issuer"
          title={`Remove ${name}?`}
          confirm="Remove the issuer"
          size="small"
        >
          {people}; none will be. To name another issuer, remove this one first: an account at one is nobody at another.
        </ConfirmDestructive>
      )}
    </>
  );
}

function IssuerFields({ secretHint }: Readonly<{ secretHint: string }>) {
  return (
    <>
      <Field
        name="name"
        label="Name"
        hint="What members know it by."
        autoComplete="off"
        maxLength={PROVIDER_NAME_MAX_CHARACTERS}
      />
      <Field name="clientId" label="Client ID" isMono autoComplete="off" autoCapitalize="none" spellCheck={false} />
      <Field name="clientSecret" type="password" label="Client secret" hint={secretHint} isMono isOptional autoComplete="off" />
    </>
  );
}
