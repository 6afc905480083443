import { Cable } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import { isRecentlyAuthenticated } from "#core/access/may.ts";
import { counted } from "#core/counted.ts";
import { env } from "#core/env.ts";
import { listAllowances } from "#core/inference/metering/allowance.ts";
import { type InferenceRates, readRates } from "#core/inference/metering/rates.ts";
import { type InstallationUsage, readInstallationUsage } from "#core/inference/metering/read-usage.ts";
import { listProviders, PROVIDER_NAME_MAX_CHARACTERS } from "#core/inference/providers/provider.ts";
import { ActionForm, SubmitButton } from "../../_components/action-form.client.tsx";
import { CopyField } from "../../_components/copyable.tsx";
import { ChoiceRow, Field } from "../../_components/fields.client.tsx";
import { Figures } from "../../_components/figures.tsx";
import { EmptyState, List, ListRow } from "../../_components/list.tsx";
import { PageColumn, SectionCard } from "../../_components/page-layout.tsx";
import { ProveIdentity } from "../../_components/prove-identity.tsx";
import { noticeOf, type PageQuery } from "../../_server/page-query.ts";
import { requireOperator } from "../../_server/session.ts";
import { INFERENCE_PATH } from "../paths.ts";
import { addProviderAction, setRatesAction } from "./actions.ts";
import { AllowancesSection } from "./allowances-section.tsx";
import { ProviderSection } from "./provider-section.tsx";

export const metadata: Metadata = { title: "Inference · Administration" };

const notices: Record<string, string> = {
  added: "Provider added. Test it, then offer its models.",
  key: "Key saved. Requests use it from now on.",
  disabled: "Provider disabled. Its models are no longer offered.",
  enabled: "Provider enabled. Its models are offered again.",
  removed: "Provider deleted, with its key and its models.",
  model: "Model added.",
  "model-removed": "Model no longer offered.",
  allowance: "Allowance changed, including for the current month.",
  rates: "Rates changed.",
};

export default async function AdminInferencePage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const query = await searchParams;
  const operator = await requireOperator(INFERENCE_PATH);
  const [providers, allowances, rates, usage] = await Promise.all([
    listProviders(operator),
    listAllowances(operator),
    readRates(),
    readInstallationUsage(operator),
  ]);
  const isRecent = isRecentlyAuthenticated(operator);
  return (
    <PageColumn
      title="Inference"
      description={
        <>
          Apps with the scope <code>inference-api</code> use models through this service with your keys, and their use is metered
          per user and per app.
        </>
      }
      notice={noticeOf(notices, query.notice)}
    >
      {!isRecent && <ProveIdentity returnTo={INFERENCE_PATH}>Confirm your identity to change anything here.</ProveIdentity>}
      <SectionCard title="This month">
        <Usage usage={usage} />
      </SectionCard>
      {providers.length === 0 && (
        <SectionCard title="Providers" isFlush>
          <EmptyState Icon={Cable} title="No providers yet">
            Add any service with an OpenAI-compatible API, including one in your own network. Without a provider, requests fail.
          </EmptyState>
        </SectionCard>
      )}
      {providers.map((provider) => (
        <ProviderSection key={provider.id} provider={provider} isRecent={isRecent} />
      ))}
      {isRecent && <NewProvider />}
      <AllowancesSection allowances={allowances} isRecent={isRecent} />
      <RatesSection rates={rates} isRecent={isRecent} />
      <SectionCard title="Base URL" description="For OpenAI-compatible clients.">
        <CopyField label="URL" value={`${env().ORIGIN}/v1`} />
      </SectionCard>
    </PageColumn>
  );
}

function Usage({ usage: { tokens, requests, consumers } }: Readonly<{ usage: InstallationUsage }>) {
  return (
    <div className="grid grid-cols-1 gap-5">
      <Figures
        figures={[
          { label: "Tokens", value: tokens.toLocaleString("en") },
          { label: "Requests", value: requests.toLocaleString("en") },
        ]}
      />
      {consumers.length > 0 && (
        <div className="rounded-control border border-line">
          <List label="Top users">
            {consumers.map(({ ownerId, handle, tokens: theirs, requests: asked }) => (
              <ListRow
                key={ownerId}
                title={
                  handle ? (
                    <Link prefetch={false} href={`/${handle}`} className="link wrap-anywhere min-w-0">
                      {handle}
                    </Link>
                  ) : (
                    "A deleted account"
                  )
                }
                trailing={
                  <span className="text-muted text-small tabular-nums">
                    {counted(theirs, "token")} · {counted(asked, "request")}
                  </span>
                }
              />
            ))}
          </List>
        </div>
      )}
    </div>
  );
}

type RatesSectionProps = Readonly<{ rates: InferenceRates; isRecent: boolean }>;

function RatesSection({ rates: { perUser, perApp }, isRecent }: RatesSectionProps) {
  return (
    <SectionCard
      title="Rates"
      description="Requests per minute. Requests above the limit are refused; the response says how long to wait."
    >
      {isRecent ? (
        <ActionForm
          action={setRatesAction}
          values={{ perUser: String(perUser), perApp: String(perApp) }}
          label="Rates"
          className="grid max-w-reading gap-4"
        >
          <div className="grid grid-cols-1 gap-4 sm:grid-cols-2">
            <Field name="perUser" label="Per user" inputMode="numeric" maxLength={6} />
            <Field name="perApp" label="Per app, for all its users" inputMode="numeric" maxLength={6} />
          </div>
          <SubmitButton variant="secondary">Save rates</SubmitButton>
        </ActionForm>
      ) : (
        <p>
          {perUser.toLocaleString("en")} per user, {perApp.toLocaleString("en")} per app.
        </p>
      )}
    </SectionCard>
  );
}

function NewProvider() {
  return (
    <SectionCard
      title="New provider"
      description="Requests are sent to the provider with its key, which is stored encrypted and never shown again."
    >
      <ActionForm action={addProviderAction} label="New provider" className="grid max-w-reading gap-4">
        <Field
          name="name"
          label="Name"
          hint="Shown to users beside its models."
          autoComplete="off"
          maxLength={PROVIDER_NAME_MAX_CHARACTERS}
        />
        <Field
          name="baseUrl"
          type="url"
          label="Base URL"
          hint="The URL that comes before /chat/completions, such as https://api.example.com/v1."
          isMono
          maxLength={500}
        />
        <Field name="apiKey" type="password" label="API key" isOptional isMono maxLength={1000} />
        <ChoiceRow
          type="checkbox"
          name="isOwnNetworkAllowed"
          label="The provider is in your own network"
          hint="Allows a private address, and unencrypted requests if the URL begins with http://."
        />
        <SubmitButton>Add provider</SubmitButton>
      </ActionForm>
    </SectionCard>
  );
}
