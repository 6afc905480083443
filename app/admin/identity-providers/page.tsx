import { KeyRound } from "lucide-react";
import type { Metadata } from "next";
import { redirectUriOf } from "#core/accounts/identity-providers/identity-provider.ts";
import {
  type ListedIdentityProvider,
  listIdentityProviders,
} from "#core/accounts/identity-providers/manage-identity-providers.ts";
import { PROVIDER_NAME_MAX_CHARACTERS } from "#core/accounts/identity-providers/parse-identity-provider.ts";
import { ActionButton, ActionForm, SubmitButton } from "../../_components/action-form.client.tsx";
import { Chip } from "../../_components/chip.tsx";
import { CopyField } from "../../_components/copyable.tsx";
import { ConfirmDestructive } from "../../_components/details-form.client.tsx";
import { CancelButton, Disclosure } from "../../_components/disclosure.client.tsx";
import { ChoiceRow, Field, Select } from "../../_components/fields.client.tsx";
import { EmptyState, List, ListRow } from "../../_components/list.tsx";
import { PageColumn, SectionCard } from "../../_components/page-layout.tsx";
import { RelativeTime } from "../../_components/relative-time.tsx";
import { noticeOf, type PageQuery } from "../../_server/page-query.ts";
import { requireOperator } from "../../_server/session.ts";
import { addProviderAction, removeProviderAction, switchProviderAction, updateProviderAction } from "./actions.ts";

export const metadata: Metadata = { title: "Identity providers · Administration" };

export default async function IdentityProvidersPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const operator = await requireOperator("/admin/identity-providers");
  const [providers, query] = await Promise.all([listIdentityProviders(operator), searchParams]);
  return (
    <PageColumn
      title="Identity providers"
      description="Services that users can sign in with, instead of using a password here. You trust each of them to identify users."
      notice={noticeOf({ removed: "Provider deleted. The accounts linked to it were unlinked." }, query.notice)}
    >
      <SectionCard title="Providers" isFlush>
        {providers.length === 0 ? (
          <EmptyState Icon={KeyRound} title="No identity providers yet">
            Users sign in with their password or a passkey. Add a provider below to show its button on the sign-in page.
          </EmptyState>
        ) : (
          <List label="Identity providers">
            {providers.map((provider) => (
              <ProviderRow key={provider.id} provider={provider} />
            ))}
          </List>
        )}
      </SectionCard>
      <AddProvider redirectUri={redirectUriOf("NAME")} />
    </PageColumn>
  );
}

const kinds = [
  { value: "oidc", label: "OpenID Connect: any issuer" },
  { value: "google", label: "Google" },
  { value: "github", label: "GitHub" },
];

function AddProvider({ redirectUri }: Readonly<{ redirectUri: string }>) {
  return (
    <SectionCard
      title="New provider"
      description="First register this service at the provider, as a web application with the redirect URI below. The provider gives you the client ID and the secret."
    >
      <ActionForm action={addProviderAction} label="New provider" className="grid max-w-reading gap-4">
        <Select name="kind" label="Kind" options={kinds} defaultValue="oidc" />
        <Field
          name="slug"
          label="Name in URLs"
          hint="Lower-case letters and digits, such as google or acme. It cannot be changed later."
          isMono
          maxLength={40}
        />
        <CopyField label="Redirect URI (replace NAME with the name in URLs)" value={redirectUri} />
        <Field
          name="name"
          label="Name on the button"
          hint="Required for OpenID Connect. Google and GitHub use their own names."
          required={false}
          autoComplete="off"
          maxLength={PROVIDER_NAME_MAX_CHARACTERS}
        />
        <Field
          name="issuer"
          type="url"
          label="Issuer"
          hint="For example, https://id.example.com. Leave empty for Google and for github.com."
          isMono
          required={false}
        />
        <Field name="clientId" label="Client ID" isMono />
        <Field
          name="clientSecret"
          type="password"
          label="Client secret"
          hint="Stored encrypted and never shown again. Public clients have none."
          isMono
          isOptional
        />
        <Field name="scopes" label="Scopes" hint="Leave empty for the default scopes of this kind." isMono isOptional />
        <ChoiceRow
          type="checkbox"
          name="isSignUpAllowed"
          label="Create accounts for new users"
          hint="They get the e-mail address that the provider has verified."
        />
        <SubmitButton>Add provider</SubmitButton>
      </ActionForm>
    </SectionCard>
  );
}

const kindLabels = { oidc: "OpenID Connect", google: "Google", github: "GitHub" } as const;

function ProviderRow({ provider }: Readonly<{ provider: ListedIdentityProvider }>) {
  const { slug, name, kind, issuer, clientId, disabledAt, isSignUpAllowed, linked, createdAt } = provider;
  const people = linked === 1 ? "1 account is linked" : `${linked.toLocaleString("en")} accounts are linked`;
  return (
    <ListRow
      title={
        <>
          <bdi className="wrap-anywhere min-w-0">{name}</bdi>
          {disabledAt ? <Chip tone="warn">Disabled</Chip> : <Chip tone="good">In use</Chip>}
          {isSignUpAllowed && <Chip>Sign-up</Chip>}
        </>
      }
      meta={
        <>
          <code className="block wrap-anywhere">{issuer}</code>
          {kindLabels[kind]} · client ID <code className="wrap-anywhere">{clientId}</code> · {people} · added{" "}
          <RelativeTime at={createdAt} />
        </>
      }
    >
      <div className="mt-3 grid gap-3">
        <CopyField label={`Redirect URI to register at ${name}`} value={redirectUriOf(slug)} />
        <Edit provider={provider} />
        <div className="flex flex-wrap items-start gap-2">
          <ActionButton
            action={switchProviderAction}
            label={`Enable or disable ${name}`}
            fields={{ provider: slug, to: disabledAt ? "on" : "off" }}
          >
            {disabledAt ? "Enable" : "Disable"}
            <span className="sr-only"> {name}</span>
          </ActionButton>
          <ConfirmDestructive
            action={removeProviderAction}
            trigger="Delete"
            title={
              <>
                Delete <bdi>{name}</bdi>?
              </>
            }
            confirm="Delete the provider"
            size="small"
          >
            <input type="hidden" name="provider" value={slug} />
            {linked === 0
              ? "No account is linked to it."
              : `${people} to it and will be unlinked. Users without another sign-in method must set a password with “Forgot password?” on the sign-in page.`}{" "}
            To stop sign-ins temporarily, disable the provider instead.
          </ConfirmDestructive>
        </div>
      </div>
    </ListRow>
  );
}

function Edit({ provider }: Readonly<{ provider: ListedIdentityProvider }>) {
  const { slug, name, clientId, scopes, hasSecret, isSignUpAllowed } = provider;
  return (
    <Disclosure
      look={{ size: "small" }}
      trigger={
        <>
          Edit<span className="sr-only"> {name}</span>
        </>
      }
    >
      <ActionForm
        action={updateProviderAction.bind(null, slug)}
        label={`Edit ${name}`}
        values={{ name, clientId, scopes: scopes.join(" ") }}
        className="mt-3 grid max-w-reading gap-4"
      >
        <Field name="name" label="Name on the button" autoComplete="off" />
        <Field name="clientId" label="Client ID" isMono />
        <Field
          name="clientSecret"
          type="password"
          label="New client secret"
          hint={hasSecret ? "Leave empty to keep the current one." : "No secret is set."}
          isMono
          isOptional
        />
        <Field name="scopes" label="Scopes" isMono isOptional />
        <ChoiceRow
          type="checkbox"
          name="isSignUpAllowed"
          label="Create accounts for new users"
          defaultChecked={isSignUpAllowed}
        />
        <div className="flex gap-2">
          <SubmitButton size="small">
            Save<span className="sr-only"> {name}</span>
          </SubmitButton>
          <CancelButton size="small" />
        </div>
      </ActionForm>
    </Disclosure>
  );
}
