import type { ReactNode } from "react";
import { type OrganizationPlan, organizationPlans } from "#core/accounts/organizations/plans.ts";
import { type ListedProvider, MODEL_NAME_MAX_CHARACTERS } from "#core/inference/providers/provider.ts";
import { ActionButton, ActionForm, SubmitButton } from "../../_components/action-form.client.tsx";
import { Chip } from "../../_components/chip.tsx";
import { ConfirmDestructive } from "../../_components/details-form.client.tsx";
import { CancelButton, Disclosure } from "../../_components/disclosure.client.tsx";
import { ChoiceRow, Field } from "../../_components/fields.client.tsx";
import { List, ListRow } from "../../_components/list.tsx";
import { planNames } from "../../_components/organization-wording.ts";
import { SectionCard } from "../../_components/page-layout.tsx";
import { RelativeTime } from "../../_components/relative-time.tsx";
import {
  addModelAction,
  removeModelAction,
  removeProviderAction,
  rotateKeyAction,
  setDisabledAction,
  testProviderAction,
} from "./actions.ts";

type PartProps = Readonly<{ provider: ListedProvider; isRecent: boolean }>;

export function ProviderSection({ provider, isRecent }: PartProps) {
  const { name, baseUrl, hasKey, last4, isOwnNetworkAllowed, disabledAt, createdAt } = provider;
  return (
    <SectionCard
      title={<bdi className="wrap-anywhere">{name}</bdi>}
      isFlush
      action={disabledAt ? <Chip tone="bad">Disabled</Chip> : <Chip tone="good">Enabled</Chip>}
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
        <ActionButton action={testProviderAction.bind(null, provider.id)} label={`Test ${name}`}>
          Test the connection<span className="sr-only"> to {name}</span>
        </ActionButton>
        {isRecent && <Actions provider={provider} />}
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
                <Chip key={plan}>{planNames[plan as OrganizationPlan]}</Chip>
              ))}
            </>
          }
          meta={
            upstreamName !== name && (
              <>
                at the provider: <code className="break-all">{upstreamName}</code>
              </>
            )
          }
        >
          {isRecent && (
            <div className="mt-2">
              <ConfirmDestructive
                action={removeModelAction.bind(null, id)}
                trigger="Stop offering"
                title={`Stop offering ${name}?`}
                confirm={`Stop offering ${name}`}
                size="small"
                isQuiet
              >
                Apps that request the model get an error saying that it does not exist. Past usage stays on record.
              </ConfirmDestructive>
            </div>
          )}
        </ListRow>
      ))}
    </List>
  );
}

function Actions({ provider: { id, name, disabledAt, hasKey } }: Readonly<{ provider: ListedProvider }>) {
  return (
    <>
      <Part label="Offer a model" of={name}>
        <ActionForm
          action={addModelAction.bind(null, id)}
          label={`Offer a model of ${name}`}
          className="grid max-w-reading gap-4"
        >
          <Field name="model" label="Name" hint="The name that apps request." isMono maxLength={MODEL_NAME_MAX_CHARACTERS} />
          <Field
            name="upstreamName"
            label="Its name at the provider"
            hint="Leave empty if it is the same."
            isOptional
            isMono
            maxLength={MODEL_NAME_MAX_CHARACTERS}
          />
          <fieldset>
            <legend className="font-medium">Only for organizations on these plans</legend>
            <p className="text-muted text-small">If you select none, everyone can use the model.</p>
            {organizationPlans.map((plan) => (
              <ChoiceRow key={plan} type="checkbox" name="plans" value={plan} label={planNames[plan]} />
            ))}
          </fieldset>
          <div className="flex gap-2">
            <SubmitButton>Offer model</SubmitButton>
            <CancelButton />
          </div>
        </ActionForm>
      </Part>
      <Part label={hasKey ? "Replace the key" : "Add a key"} of={name}>
        <ActionForm action={rotateKeyAction.bind(null, id)} label={`Key of ${name}`} className="grid max-w-reading gap-4">
          <Field name="apiKey" type="password" label="New API key" isMono maxLength={1000} />
          <div className="flex gap-2">
            <SubmitButton>Save key</SubmitButton>
            <CancelButton />
          </div>
        </ActionForm>
      </Part>
      <ActionButton action={setDisabledAction.bind(null, id, !disabledAt)} label={`Use of ${name}`}>
        {disabledAt ? "Enable" : "Disable"}
        <span className="sr-only"> {name}</span>
      </ActionButton>
      <ConfirmDestructive
        action={removeProviderAction.bind(null, id)}
        trigger="Delete the provider"
        title={
          <>
            Delete <bdi>{name}</bdi>?
          </>
        }
        confirm={`Delete ${name}`}
        size="small"
      >
        Its key and its models are deleted too. To stop using it temporarily, disable it instead. Past usage stays on record.
      </ConfirmDestructive>
    </>
  );
}

function Part({ label, of, children }: Readonly<{ label: string; of: string; children: ReactNode }>) {
  return (
    <Disclosure
      look={{ size: "small" }}
      trigger={
        <>
          {label}
          <span className="sr-only"> of {of}</span>
        </>
      }
    >
      <div className="mt-3 rounded-control border border-line p-4">{children}</div>
    </Disclosure>
  );
}
