import { Cable } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import { isRecentlyAuthenticated } from "#core/access/is-recently-authenticated.ts";
import { env } from "#core/env.ts";
import { listAllowances } from "#core/inference/metering/allowance.ts";
import { readRates } from "#core/inference/metering/rates.ts";
import { type InstallationUsage, readInstallationUsage } from "#core/inference/metering/read-usage.ts";
import { listProviders } from "#core/inference/providers/list-providers.ts";
import { CopyField } from "../../_components/copy-field.tsx";
import { EmptyState } from "../../_components/empty-state.tsx";
import { Figures } from "../../_components/figures.tsx";
import { FormMessage } from "../../_components/form-message.tsx";
import { List, ListRow } from "../../_components/list.tsx";
import { PageHeader } from "../../_components/page-header.tsx";
import { ProveIdentity } from "../../_components/prove-identity.tsx";
import { SectionCard } from "../../_components/section-card.tsx";
import { requireOperator } from "../../_server/operator-page.ts";
import { noticeOf, type PageQuery } from "../../_server/page-query.ts";
import { AllowancesSection } from "./allowances-section.tsx";
import { INFERENCE_PATH } from "./inference-path.ts";
import { NewProvider } from "./new-provider.tsx";
import { ProviderSection } from "./provider-section.tsx";
import { RatesSection } from "./rates-section.tsx";

export const metadata: Metadata = { title: "Inference · Administration" };

/** What just happened, said once after a redirect. */
const notices: Record<string, string> = {
  added: "The provider is added. Test it, then offer its models.",
  key: "The key is replaced. Requests use the new one from now on.",
  disabled: "The provider is disabled. Its models are not offered.",
  enabled: "The provider is enabled. Its models are offered again.",
  removed: "The provider is removed, with its key and its models.",
  model: "The model is offered.",
  "model-removed": "The model is not offered any more.",
  allowance: "What may be used in a month is changed, for the month that has begun too.",
  rates: "How often may be asked is changed.",
};

/** Where requests of the gateway go, what they may use, and what was used. */
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
  const notice = noticeOf(notices, query.notice);
  return (
    <>
      <PageHeader
        title="Inference"
        description="Apps with the scope inference-api ask models through this service, with your keys, metered by person and app."
      />
      <div className="grid grid-cols-1 gap-5">
        {notice && <FormMessage tone="good">{notice}</FormMessage>}
        {!isRecent && <ProveIdentity returnTo={INFERENCE_PATH}>To change anything here, confirm that it is you.</ProveIdentity>}
        <SectionCard title="This month">
          <Usage usage={usage} />
        </SectionCard>
        {providers.length === 0 && (
          <SectionCard title="Providers" isFlush>
            <EmptyState Icon={Cable} title="No providers yet">
              Any service with an OpenAI-compatible API will do, one in your own network too. Until there is one, apps get no
              answers.
            </EmptyState>
          </SectionCard>
        )}
        {providers.map((provider) => (
          <ProviderSection key={provider.id} provider={provider} isRecent={isRecent} />
        ))}
        {isRecent && <NewProvider />}
        <AllowancesSection allowances={allowances} isRecent={isRecent} />
        <RatesSection rates={rates} isRecent={isRecent} />
        <SectionCard title="For apps" description="What an OpenAI-compatible client takes as its base address.">
          <CopyField label="Base address" value={`${env().ORIGIN}/v1`} />
        </SectionCard>
      </div>
    </>
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
          <List label="Who used most">
            {consumers.map(({ ownerId, handle, tokens: theirs, requests: asked }) => (
              <ListRow
                key={ownerId}
                title={
                  handle ? (
                    <Link prefetch={false} href={`/${handle}`} className="link wrap-anywhere min-w-0">
                      {handle}
                    </Link>
                  ) : (
                    "An account that is gone"
                  )
                }
                trailing={
                  <span className="text-muted text-small tabular-nums">
                    {theirs.toLocaleString("en")} tokens · {asked.toLocaleString("en")} {asked === 1 ? "request" : "requests"}
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
