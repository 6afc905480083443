import Link from "next/link";
import type { ReactNode } from "react";
import { organizationSlug, redirectUriOf } from "#core/accounts/identity-providers/identity-provider.ts";
import { PROVIDER_NAME_MAX_CHARACTERS } from "#core/accounts/identity-providers/parse-identity-provider.ts";
import type { OrganizationSecurity } from "#core/accounts/organizations/security/organization-security.ts";
import { ActionButton, ActionForm, SubmitButton } from "../../../../_components/action-form.client.tsx";
import { buttonClass } from "../../../../_components/button.tsx";
import { Chip } from "../../../../_components/chip.tsx";
import { CopyField } from "../../../../_components/copyable.tsx";
import { ConfirmDestructive } from "../../../../_components/details-form.client.tsx";
import { CancelButton, Disclosure } from "../../../../_components/disclosure.client.tsx";
import { Field } from "../../../../_components/fields.client.tsx";
import { SectionCard } from "../../../../_components/page-layout.tsx";
import { organizationPath } from "../../../../_server/organization-page.ts";
import { providerSignInPath } from "../../../../_server/provider-sign-in.ts";
import { changeRequirementAction, removeIssuerAction, saveIssuerAction } from "../../../actions.ts";

const descriptions = {
  "second-step": "Members must set up a passkey or an authenticator app.",
  provider: "Members must sign in with the organization's issuer at least every 7 days, in addition to signing in here.",
} as const;

type RequirementSectionProps = Readonly<{
  organization: Readonly<{ name: string; fullName: string }>;
  requirement: keyof typeof descriptions;
  title: string;
  isRequired: boolean;
  /** The number of members who do not meet the requirement, even if the requirement is off. */
  unmet: number;
  members: number;
  /** The administrator must take this step before turning the requirement on. */
  ownStep?: ReactNode;
}>;

export function RequirementSection({
  organization,
  requirement,
  title,
  isRequired,
  unmet,
  members,
  ownStep,
}: RequirementSectionProps) {
  const { name, fullName } = organization;
  const whom = unmet === 1 ? "1 member" : `${unmet.toLocaleString("en")} members`;
  const action = changeRequirementAction.bind(null, name);
  return (
    <SectionCard
      title={title}
      description={descriptions[requirement]}
      action={isRequired ? <Chip tone="good">Required</Chip> : <Chip>Not required</Chip>}
    >
      <p className="mb-4 max-w-reading">
        {unmet === 0
          ? members === 1
            ? "The only member meets this requirement."
            : `All ${members.toLocaleString("en")} members meet this requirement.`
          : `${unmet.toLocaleString("en")} of ${members.toLocaleString("en")} ${members === 1 ? "member" : "members"} ${unmet === 1 ? "has" : "have"} not met this requirement yet.`}{" "}
        {unmet > 0 && (
          <Link
            prefetch={false}
            className="link"
            href={`${organizationPath(name, "settings/security")}?without=${requirement}#without`}
          >
            Show who<span className="sr-only"> does not meet the requirement “{title}”</span>
          </Link>
        )}
      </p>
      {!isRequired && ownStep && <p className="mb-4 max-w-reading text-muted text-small">{ownStep}</p>}
      {isRequired ? (
        <ActionButton action={action} label={title} fields={{ requirement, to: "off" }} size="medium">
          Stop requiring it
        </ActionButton>
      ) : unmet === 0 ? (
        <ActionButton action={action} label={title} fields={{ requirement, to: "on" }} size="medium">
          Require it
        </ActionButton>
      ) : (
        <ConfirmDestructive
          action={action}
          trigger="Require it"
          title={`Require this of all members of ${fullName}?`}
          confirm="Require it"
        >
          <input type="hidden" name="requirement" value={requirement} />
          <input type="hidden" name="to" value="on" />
          {whom}, their apps and their tokens immediately lose access to the organization until they meet the requirement.
          Memberships are kept, and the organization's pages say what to do.
        </ConfirmDestructive>
      )}
    </SectionCard>
  );
}

type Provider = NonNullable<OrganizationSecurity["provider"]>;

type IssuerSectionProps = Readonly<{
  organization: Readonly<{ id: string; name: string }>;
  provider: Provider | null;
  isRequired: boolean;
  path: string;
}>;

export function IssuerSection({ organization, provider, isRequired, path }: IssuerSectionProps) {
  return (
    <SectionCard
      title="The organization's issuer"
      description="Your own OpenID Connect provider. Members use it to prove that they still belong to the organization; it does not sign them in to their account here."
      action={provider?.isDisabled && <Chip tone="warn">Disabled by the operator</Chip>}
    >
      <div className="grid max-w-reading gap-5">
        <CopyField label="Redirect URI to register at the issuer" value={redirectUriOf(organizationSlug(organization.id))} />
        {provider ? (
          <SavedIssuer organization={organization} provider={provider} isRequired={isRequired} path={path} />
        ) : (
          <ActionForm action={saveIssuerAction.bind(null, organization.name)} label="Set up the issuer" className="grid gap-4">
            <Field
              name="issuer"
              type="url"
              label="Issuer"
              hint="For example, https://id.example.com. Its discovery document is read when you save."
              isMono
            />
            <IssuerFields secretHint="Stored encrypted and never shown again. Public clients have none." />
            <SubmitButton variant="secondary">Save issuer</SubmitButton>
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
          href={providerSignInPath(slug, { next: `${path}?notice=tried` })}
        >
          <span className="truncate">Sign in with {name}</span>
        </a>
      </div>
      <Disclosure look={{ size: "small" }} trigger="Edit the issuer">
        <ActionForm
          action={saveIssuerAction.bind(null, organization.name)}
          label="Edit the issuer"
          values={{ name, clientId }}
          className="mt-3 grid gap-4"
        >
          <IssuerFields secretHint={hasSecret ? "Leave empty to keep the current one." : "No secret is set."} />
          <div className="flex flex-wrap gap-2">
            <SubmitButton size="small">Save issuer</SubmitButton>
            <CancelButton size="small" />
          </div>
        </ActionForm>
      </Disclosure>
      {isRequired ? (
        <p className="text-muted text-small">To delete the issuer, disable the requirement below first.</p>
      ) : (
        <ConfirmDestructive
          action={removeIssuerAction.bind(null, organization.name)}
          trigger="Delete the issuer"
          title={`Delete ${name}?`}
          confirm="Delete the issuer"
          size="small"
        >
          {linked === 0 ? "No account is linked to it." : `${people} and will be unlinked.`} To use another issuer, delete this
          one first.
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
        hint="The name that members see."
        autoComplete="off"
        maxLength={PROVIDER_NAME_MAX_CHARACTERS}
      />
      <Field name="clientId" label="Client ID" isMono />
      <Field name="clientSecret" type="password" label="Client secret" hint={secretHint} isMono isOptional />
    </>
  );
}
