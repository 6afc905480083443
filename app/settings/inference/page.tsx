import { Sparkles } from "lucide-react";
import type { Metadata } from "next";
import { personActor } from "#core/access/actor.ts";
import { env } from "#core/env.ts";
import { type MonthOfUsage, readUsage, type UsageLine } from "#core/inference/metering/read-usage.ts";
import { findClientRecords } from "#core/oauth/client-records.ts";
import { UsageBars } from "../../_components/applications/usage-bars.tsx";
import { ButtonLink } from "../../_components/button.tsx";
import { Chip } from "../../_components/chip.tsx";
import { CopyField } from "../../_components/copy-field.tsx";
import { EmptyState } from "../../_components/empty-state.tsx";
import { List, ListRow } from "../../_components/list.tsx";
import { PageHeader } from "../../_components/page-header.tsx";
import { SectionCard } from "../../_components/section-card.tsx";
import { requireSession } from "../../_server/session.ts";

export const metadata: Metadata = { title: "Inference" };

const PAGE = "/settings/inference";
const day = new Intl.DateTimeFormat("en", { month: "short", day: "numeric", timeZone: "UTC" });
const monthName = new Intl.DateTimeFormat("en", { month: "long", year: "numeric", timeZone: "UTC" });

/** What apps asked models for in one's name this month, and how much is left. */
export default async function InferencePage() {
  const session = await requireSession(PAGE);
  const usage = await readUsage(personActor(session), session.userId);
  const apps = await findClientRecords(usage.lines.flatMap(({ clientId }) => clientId || []));
  return (
    <>
      <PageHeader
        title="Inference"
        description={`What apps and tokens of yours with the scope inference-api used in ${monthName.format(new Date(usage.month))}.`}
      />
      <div className="grid grid-cols-1 gap-5">
        <SectionCard title="This month">
          <div className="grid grid-cols-1 gap-5">
            <Allowance usage={usage} />
            <UsageBars
              label="Tokens"
              bars={usage.days.map(({ day: at, tokens }) => ({ name: day.format(new Date(at)), count: tokens }))}
            />
          </div>
        </SectionCard>
        <SectionCard title="By app" isFlush>
          {usage.lines.length === 0 ? (
            <EmptyState
              Icon={Sparkles}
              title="Nothing was used this month"
              action={<ButtonLink href="/settings/tokens/new">New access token</ButtonLink>}
            >
              Sign in to an app that asks for inference, or make a token with the scope inference-api.
            </EmptyState>
          ) : (
            <List label="Usage by app">
              {usage.lines.map((line) => (
                <Line
                  key={`${line.clientId} ${line.orgName} ${line.isOrganizations} ${line.model}`}
                  line={line}
                  appName={line.clientId === "" ? "Your access tokens" : (apps.get(line.clientId)?.name ?? "An app that is gone")}
                />
              ))}
            </List>
          )}
        </SectionCard>
        <SectionCard
          title="Use it"
          description="Clients of OpenAI-compatible APIs work with this address and an access token as the key. GET /v1/models lists the models."
        >
          <CopyField label="Base address" value={`${env().ORIGIN}/v1`} />
        </SectionCard>
      </div>
    </>
  );
}

function Allowance({ usage: { tokens, requests, underWay, allowance } }: Readonly<{ usage: MonthOfUsage }>) {
  const { monthlyTokens, monthlyRequests } = allowance;
  return (
    <div className="grid grid-cols-1 gap-4 sm:grid-cols-2">
      <Meter label="Tokens" used={tokens} of={monthlyTokens} />
      <Meter label="Requests" used={requests} of={monthlyRequests} />
      {underWay > 0 && (
        <p className="text-muted text-small">{underWay === 1 ? "1 request is" : `${underWay} requests are`} under way.</p>
      )}
    </div>
  );
}

function Meter({ label, used, of }: Readonly<{ label: string; used: number; of: number | null }>) {
  return (
    <div className="grid gap-1.5">
      <p className="flex flex-wrap items-baseline justify-between gap-x-3">
        <span className="font-medium">{label}</span>
        <span className="text-muted text-small tabular-nums">
          {used.toLocaleString("en")} {of === null ? "used, no limit" : `of ${of.toLocaleString("en")}`}
        </span>
      </p>
      {of !== null && (
        <progress
          aria-label={`${label} used of this month's allowance`}
          value={Math.min(used, of)}
          max={Math.max(of, 1)}
          className="h-2 w-full overflow-hidden rounded-full accent-ink"
        />
      )}
    </div>
  );
}

function Line({ line, appName }: Readonly<{ line: UsageLine; appName: string }>) {
  const { model, requests, failures, promptTokens, completionTokens, estimatedTokens, isOrganizations, orgName } = line;
  return (
    <ListRow
      title={
        <>
          <bdi className="wrap-anywhere min-w-0">{appName}</bdi>
          {isOrganizations && <Chip>Paid by {orgName ?? "an organization that is gone"}</Chip>}
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
