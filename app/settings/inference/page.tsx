import { Sparkles } from "lucide-react";
import type { Metadata } from "next";
import { personActor } from "#core/access/actor.ts";
import { env } from "#core/env.ts";
import { type MonthOfUsage, readUsage, type UsageLine } from "#core/inference/metering/read-usage.ts";
import { listModels } from "#core/inference/models.ts";
import { findClientRecords } from "#core/oauth/clients/client-records.ts";
import { UsageBars } from "../../_components/applications/usage-section.tsx";
import { ButtonLink } from "../../_components/button.tsx";
import { Chip } from "../../_components/chip.tsx";
import { CopyField } from "../../_components/copyable.tsx";
import { Meter, ofLimit } from "../../_components/figures.tsx";
import { EmptyState, List, ListRow } from "../../_components/list.tsx";
import { PageColumn, SectionCard } from "../../_components/page-layout.tsx";
import { requireSession } from "../../_server/session.ts";

export const metadata: Metadata = { title: "Inference" };

const PAGE = "/settings/inference";
const day = new Intl.DateTimeFormat("en", { month: "short", day: "numeric", timeZone: "UTC" });
const monthName = new Intl.DateTimeFormat("en", { month: "long", year: "numeric", timeZone: "UTC" });

export default async function InferencePage() {
  const session = await requireSession(PAGE);
  const usage = await readUsage(personActor(session), session.userId);
  const models =
    usage.lines.length === 0
      ? await listModels({ userId: session.userId, clientId: "", orgId: null, ownerId: session.userId })
      : [];
  const apps = await findClientRecords(usage.lines.flatMap(({ clientId }) => clientId || []));
  return (
    <PageColumn
      title="Inference"
      description={
        <>
          Usage in {monthName.format(new Date(usage.month))} by your apps and tokens with the scope <code>inference-api</code>.
        </>
      }
    >
      <SectionCard title="This month">
        <div className="grid grid-cols-1 gap-5">
          <Allowance usage={usage} />
          <UsageBars
            label="Tokens"
            bars={usage.days.map(({ day: at, tokens }) => ({ name: day.format(new Date(at)), count: tokens }))}
          />
        </div>
      </SectionCard>
      <SectionCard title="Usage by app" isFlush>
        {usage.lines.length === 0 ? (
          <EmptyState
            Icon={Sparkles}
            title="No usage this month"
            action={models.length > 0 && <ButtonLink href="/settings/tokens/new">New access token</ButtonLink>}
          >
            {models.length > 0 ? (
              <>
                Sign in to an app that uses inference, or create a token with the scope <code>inference-api</code>.
              </>
            ) : (
              "This service offers no models that you can use yet. Its operator can add some."
            )}
          </EmptyState>
        ) : (
          <List label="Usage by app">
            {usage.lines.map((line) => (
              <Line
                key={`${line.clientId} ${line.orgName} ${line.isPaidByOrganization} ${line.model}`}
                line={line}
                appName={line.clientId === "" ? "Your access tokens" : (apps.get(line.clientId)?.name ?? "A deleted app")}
              />
            ))}
          </List>
        )}
      </SectionCard>
      <SectionCard
        title="Base URL"
        description={
          <>
            Use it with OpenAI-compatible clients, with an access token as the key.{" "}
            <code className="whitespace-nowrap">GET /v1/models</code> lists the models.
          </>
        }
      >
        <CopyField label="URL" value={`${env().ORIGIN}/v1`} />
      </SectionCard>
    </PageColumn>
  );
}

function Allowance({ usage: { tokens, requests, underWay, allowance } }: Readonly<{ usage: MonthOfUsage }>) {
  const { monthlyTokens, monthlyRequests } = allowance;
  return (
    <div className="grid grid-cols-1 gap-x-10 gap-y-4 sm:grid-cols-2">
      <Meter label="Tokens" {...amounts(tokens, monthlyTokens)} />
      <Meter label="Requests" {...amounts(requests, monthlyRequests)} />
      {underWay > 0 && (
        <p className="text-muted text-small">{underWay === 1 ? "1 request is" : `${underWay} requests are`} in progress.</p>
      )}
    </div>
  );
}

const amounts = (value: number, max: number | null) => ({
  value,
  max,
  text: ofLimit(value.toLocaleString("en"), max?.toLocaleString("en") ?? null),
});

function Line({ line, appName }: Readonly<{ line: UsageLine; appName: string }>) {
  const { model, requests, failures, promptTokens, completionTokens, estimatedTokens, isPaidByOrganization, orgName } = line;
  return (
    <ListRow
      title={
        <>
          <bdi className="wrap-anywhere min-w-0">{appName}</bdi>
          {isPaidByOrganization && <Chip>Allowance of {orgName ?? "a deleted organization"}</Chip>}
        </>
      }
      meta={
        <>
          <code className="break-all">{model}</code> ·{" "}
          {requests === 1 ? "1 request" : `${requests.toLocaleString("en")} requests`}
          {failures > 0 && ` · ${failures.toLocaleString("en")} failed`}
        </>
      }
      trailing={
        <span className="text-muted text-small tabular-nums">
          {promptTokens.toLocaleString("en")} in · {completionTokens.toLocaleString("en")} out
          {estimatedTokens > 0 && " · partly estimated"}
        </span>
      }
    />
  );
}
