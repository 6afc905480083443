import { redirectUriOf } from "#core/accounts/identity-providers/identity-provider.ts";
import type { ListedIdentityProvider } from "#core/accounts/identity-providers/list-identity-providers.ts";
import { ActionForm } from "../../_components/action-form.client.tsx";
import { buttonClass } from "../../_components/button.tsx";
import { Chip } from "../../_components/chip.tsx";
import { ChoiceRow } from "../../_components/choice-row.client.tsx";
import { ConfirmDestructive } from "../../_components/confirm-destructive.client.tsx";
import { CopyField } from "../../_components/copy-field.tsx";
import { Field } from "../../_components/field.client.tsx";
import { ListRow } from "../../_components/list.tsx";
import { RelativeTime } from "../../_components/relative-time.tsx";
import { SubmitButton } from "../../_components/submit-button.client.tsx";
import { removeProviderAction, switchProviderAction, updateProviderAction } from "./actions.ts";

const kindLabels = { oidc: "OpenID Connect", google: "Google", github: "GitHub" } as const;

export function ProviderRow({ provider }: Readonly<{ provider: ListedIdentityProvider }>) {
  const { slug, name, kind, issuer, clientId, disabledAt, isSignUpAllowed, linked, createdAt } = provider;
  const people = linked === 1 ? "1 account is linked" : `${linked.toLocaleString("en")} accounts are linked`;
  return (
    <ListRow
      title={
        <>
          <bdi className="wrap-anywhere min-w-0">{name}</bdi>
          {disabledAt ? <Chip tone="warn">disabled</Chip> : <Chip tone="good">in use</Chip>}
          {isSignUpAllowed && <Chip>sign-up</Chip>}
        </>
      }
      meta={
        <>
          <code className="block break-all">{issuer}</code>
          {kindLabels[kind]} · client ID <code className="break-all">{clientId}</code> · {people} · added{" "}
          <RelativeTime at={createdAt} />
        </>
      }
    >
      <div className="mt-3 grid gap-3">
        <CopyField label={`Redirect URI to register at ${name}`} value={redirectUriOf(slug)} />
        <Edit provider={provider} />
        <div className="flex flex-wrap items-start gap-2">
          <ActionForm action={switchProviderAction} label={`Whether ${name} is in use`}>
            <input type="hidden" name="provider" value={slug} />
            <input type="hidden" name="to" value={disabledAt ? "on" : "off"} />
            <SubmitButton variant="secondary" size="small">
              {disabledAt ? "Enable" : "Disable"}
              <span className="sr-only"> {name}</span>
            </SubmitButton>
          </ActionForm>
          <ConfirmDestructive
            action={removeProviderAction}
            trigger="Remove"
            title={
              <>
                Remove <bdi>{name}</bdi>?
              </>
            }
            confirm="Remove the provider"
            size="small"
          >
            <input type="hidden" name="provider" value={slug} />
            {people} to it; none will be. Whoever has no other way in has to choose a password by mail. To stop sign-ins for a
            while, disable it instead.
          </ConfirmDestructive>
        </div>
      </div>
    </ListRow>
  );
}

function Edit({ provider }: Readonly<{ provider: ListedIdentityProvider }>) {
  const { slug, name, clientId, scopes, hasSecret, isSignUpAllowed } = provider;
  return (
    <details>
      <summary className={buttonClass({ size: "small" })}>
        Edit<span className="sr-only"> {name}</span>
      </summary>
      <ActionForm
        action={updateProviderAction.bind(null, slug)}
        label={`Edit ${name}`}
        values={{ name, clientId, scopes: scopes.join(" ") }}
        className="mt-3 grid max-w-reading gap-4"
      >
        <Field name="name" label="Name on the button" autoComplete="off" />
        <Field name="clientId" label="Client ID" isMono autoComplete="off" autoCapitalize="none" spellCheck={false} />
        <Field
          name="clientSecret"
          type="password"
          label="New client secret"
          hint={hasSecret ? "Left empty, the present one stays." : "There is none."}
          isMono
          isOptional
          autoComplete="off"
        />
        <Field name="scopes" label="Scopes" isMono isOptional autoComplete="off" />
        <ChoiceRow
          type="checkbox"
          name="isSignUpAllowed"
          label="Make accounts for people who have none"
          defaultChecked={isSignUpAllowed}
        />
        <div>
          <SubmitButton variant="secondary" size="small">
            Save<span className="sr-only"> {name}</span>
          </SubmitButton>
        </div>
      </ActionForm>
    </details>
  );
}
