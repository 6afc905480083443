import type { ReactNode } from "react";
import { organizationPlans } from "#core/accounts/organizations/plans.ts";
import type { ListedProvider } from "#core/inference/providers/list-providers.ts";
import { MODEL_NAME_MAX_CHARACTERS } from "#core/inference/providers/provider.ts";
import { ActionForm } from "../../_components/action-form.client.tsx";
import { buttonClass } from "../../_components/button.tsx";
import { Chip } from "../../_components/chip.tsx";
import { ChoiceRow } from "../../_components/choice-row.client.tsx";
import { ConfirmDestructive } from "../../_components/confirm-destructive.client.tsx";
import { Field } from "../../_components/field.client.tsx";
import { List, ListRow } from "../../_components/list.tsx";
import { RelativeTime } from "../../_components/relative-time.tsx";
import { SectionCard } from "../../_components/section-card.tsx";
import { SubmitButton } from "../../_components/submit-button.client.tsx";
import {
  addModelAction,
  removeModelAction,
  removeProviderAction,
  rotateKeyAction,
  setDisabledAction,
  testProviderAction,
} from "./actions.ts";

type PartProps = Readonly<{ provider: ListedProvider; isRecent: boolean }>;

/** A provider, its models, and what can be done with both. */
export function ProviderSection({ provider, isRecent }: PartProps) {
  const { name, baseUrl, hasKey, last4, isOwnNetworkAllowed, disabledAt, createdAt } = provider;
  return (
    <SectionCard
      title={<bdi className="wrap-anywhere">{name}</bdi>}
      isFlush
      action={disabledAt ? <Chip tone="bad">Disabled</Chip> : <Chip tone="good">Offered</Chip>}
      description={
        <>
          <code className="break-all">{baseUrl}</code>
          <br />
          {keyText(hasKey, last4)}
          {isOwnNetworkAllowed && " · in your own network"} · added <RelativeTime at={createdAt} />
        </>
      }
    >
      <Models provider={provider} isRecent={isRecent} />
      <div className="grid grid-cols-1 gap-4 border-line border-t px-4 py-4 sm:px-5">
        <ActionForm action={testProviderAction.bind(null, provider.id)} label={`Test ${name}`} className="grid gap-3">
          <div>
            <SubmitButton variant="secondary" size="small">
              Test the connection<span className="sr-only"> of {name}</span>
            </SubmitButton>
          </div>
        </ActionForm>
        {isRecent && <Acts provider={provider} />}
      </div>
    </SectionCard>
  );
}

function keyText(hasKey: boolean, last4: string | null): string {
  if (!hasKey) return "without a key";
  return last4 ? `key …${last4}` : "with a key";
}

function Models({ provider: { models, name: provider }, isRecent }: PartProps) {
  if (models.length === 0) {
    return <p className="px-4 py-4 text-muted sm:px-5">None of its models are offered yet.</p>;
  }
  return (
    <List label={`Models of ${provider}`}>
      {models.map(({ id, name, upstreamName, plans }) => (
        <ListRow
          key={id}
          title={
            <>
              <code className="break-all">{name}</code>
              {plans.map((plan) => (
                <Chip key={plan}>{plan}</Chip>
              ))}
            </>
          }
          meta={
            upstreamName !== name && (
              <>
                there <code className="break-all">{upstreamName}</code>
              </>
            )
          }
        >
          {isRecent && (
            <div className="mt-2">
              <ConfirmDestructive
                action={removeModelAction.bind(null, id)}
                trigger="Remove"
                title={`Offer ${name} no more?`}
                confirm={`Remove ${name}`}
                size="small"
                isQuiet
              >
                Apps that ask for it are told that it does not exist. What was used of it stays on record.
              </ConfirmDestructive>
            </div>
          )}
        </ListRow>
      ))}
    </List>
  );
}

function Acts({ provider: { id, name, disabledAt, hasKey } }: Readonly<{ provider: ListedProvider }>) {
  return (
    <>
      <Disclosure label="Offer a model" of={name}>
        <ActionForm
          action={addModelAction.bind(null, id)}
          label={`Offer a model of ${name}`}
          className="grid max-w-reading gap-4"
        >
          <Field
            name="model"
            label="Name"
            hint="What apps ask for."
            isMono
            autoCapitalize="none"
            autoComplete="off"
            spellCheck={false}
            maxLength={MODEL_NAME_MAX_CHARACTERS}
          />
          <Field
            name="upstreamName"
            label="Its name at the provider"
            hint="The same, if you leave this empty."
            isOptional
            isMono
            autoCapitalize="none"
            autoComplete="off"
            spellCheck={false}
            maxLength={MODEL_NAME_MAX_CHARACTERS}
          />
          <fieldset>
            <legend className="font-medium">Only for organizations on these plans</legend>
            <p className="text-muted text-small">For everybody, if you tick none.</p>
            {organizationPlans.map((plan) => (
              <ChoiceRow key={plan} type="checkbox" name="plans" value={plan} label={plan} />
            ))}
          </fieldset>
          <div>
            <SubmitButton variant="secondary">Offer the model</SubmitButton>
          </div>
        </ActionForm>
      </Disclosure>
      <Disclosure label={hasKey ? "Replace the key" : "Give it a key"} of={name}>
        <ActionForm action={rotateKeyAction.bind(null, id)} label={`Key of ${name}`} className="grid max-w-reading gap-4">
          <Field name="apiKey" type="password" label="New API key" isMono autoComplete="off" maxLength={1000} />
          <div>
            <SubmitButton variant="secondary">Save the key</SubmitButton>
          </div>
        </ActionForm>
      </Disclosure>
      <ActionForm action={setDisabledAction.bind(null, id, !disabledAt)} label={`Use of ${name}`} className="grid gap-2">
        <div>
          <SubmitButton variant="secondary" size="small">
            {disabledAt ? "Enable" : "Disable"}
            <span className="sr-only"> {name}</span>
          </SubmitButton>
        </div>
      </ActionForm>
      <ConfirmDestructive
        action={removeProviderAction.bind(null, id)}
        trigger="Remove the provider"
        title={
          <>
            Remove <bdi>{name}</bdi>?
          </>
        }
        confirm={`Remove ${name}`}
        size="small"
      >
        Its key and its models go with it. To stop using it for a while, disable it. What was used stays on record.
      </ConfirmDestructive>
    </>
  );
}

function Disclosure({ label, of, children }: Readonly<{ label: string; of: string; children: ReactNode }>) {
  return (
    <details className="group">
      <summary className={buttonClass({ size: "small" }, "w-fit")}>
        {label}
        <span className="sr-only"> of {of}</span>
      </summary>
      <div className="mt-3 rounded-control border border-line p-4">{children}</div>
    </details>
  );
}
