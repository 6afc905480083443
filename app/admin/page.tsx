import { CircleCheck, Cpu, ServerCog } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import { needsAttention } from "#core/operations/needs-attention.ts";
import { type Overview, type Queue, type RunningProcess, readOverview } from "#core/operations/read-overview.ts";
import { readableSize } from "#core/readable-size.ts";
import { Chip } from "../_components/chip.tsx";
import { EmptyState } from "../_components/empty-state.tsx";
import { type Figure, Figures } from "../_components/figures.tsx";
import { FormMessage } from "../_components/form-message.tsx";
import { List, ListRow } from "../_components/list.tsx";
import { PageHeader } from "../_components/page-header.tsx";
import { RelativeTime } from "../_components/relative-time.tsx";
import { SectionCard } from "../_components/section-card.tsx";
import { requireOperator } from "../_server/operator-page.ts";
import { WebhookWork } from "./webhook-work.tsx";

export const metadata: Metadata = { title: "Overview · Administration" };

const number = new Intl.NumberFormat("en");

/** The service at a glance: first what needs somebody, then that all is there. */
export default async function AdminPage() {
  const overview = await readOverview(await requireOperator("/admin"));
  return (
    <>
      <PageHeader title="Overview" description={`Version ${overview.version}. The figures are of this moment.`} />
      <div className="grid grid-cols-1 gap-5">
        <Attention overview={overview} />
        <SectionCard title="Work that waits" description="What the worker does without anybody waiting for it.">
          <Figures figures={queueFigures(overview)} />
        </SectionCard>
        <SectionCard title="Webhooks and jobs" description="From events to the attempts of their deliveries.">
          <WebhookWork overview={overview} />
        </SectionCard>
        <SectionCard title="Processes" isFlush>
          <Processes processes={overview.processes} version={overview.version} />
        </SectionCard>
        <SectionCard title="Where it is kept">
          <Figures figures={storageFigures(overview)} />
        </SectionCard>
        <SectionCard title="People">
          <Figures figures={peopleFigures(overview)} />
        </SectionCard>
      </div>
    </>
  );
}

function Attention({ overview }: Readonly<{ overview: Overview }>) {
  const concerns = needsAttention(overview);
  if (concerns.length === 0) {
    return (
      <p className="flex items-center gap-2.5 rounded-control bg-good-soft px-3 py-2.5 text-good text-small">
        <CircleCheck className="size-4 shrink-0" aria-hidden="true" />
        Nothing needs attention.
      </p>
    );
  }
  return (
    <section aria-label="Needs attention" className="grid grid-cols-1 gap-2">
      {concerns.map(({ tone, text, href }) => (
        <FormMessage key={text} tone={tone}>
          {text}{" "}
          {href && (
            <Link prefetch={false} href={href} className="underline">
              Look at it
            </Link>
          )}
        </FormMessage>
      ))}
    </section>
  );
}

function queueFigures({ queues: { mail, logoutNotices, maintenance }, events }: Overview): Figure[] {
  const figure = (label: string, queue: Queue, href?: string): Figure => ({
    label,
    value: number.format(queue.waiting),
    note: (
      <>
        {queue.oldestAt ? (
          <>
            the oldest <RelativeTime at={queue.oldestAt} />
          </>
        ) : (
          "nothing waits"
        )}
        {queue.failed > 0 && `; ${number.format(queue.failed)} given up this week`}
      </>
    ),
    ...(href && { href }),
  });
  return [
    figure("Mail", mail, "/admin/mail"),
    figure("Sign-out notices", logoutNotices),
    figure("Repository upkeep", maintenance),
    { label: "Events", value: number.format(events), note: "recorded within a day" },
  ];
}

function Processes({ processes, version }: Readonly<{ processes: readonly RunningProcess[]; version: string }>) {
  if (processes.length === 0) {
    return (
      <EmptyState Icon={ServerCog} title="No process has been seen yet">
        Each writes down every 15 seconds that it is alive. Look again in a moment.
      </EmptyState>
    );
  }
  return (
    <List label="Processes">
      {processes.map((each) => (
        <ListRow
          key={`${each.host} ${each.pid} ${each.startedAt.toISOString()}`}
          leading={<Cpu className="size-5 text-muted" aria-hidden="true" />}
          title={
            <>
              {each.kind === "web" ? "Web process" : "Worker"}
              <Chip tone={each.isSilent ? "bad" : "good"}>{each.isSilent ? "Silent" : "Alive"}</Chip>
              {each.version !== version && <Chip tone="warn">Version {each.version}</Chip>}
            </>
          }
          meta={
            <>
              {each.host}, process {each.pid} · started <RelativeTime at={each.startedAt} /> · seen{" "}
              <RelativeTime at={each.seenAt} />
            </>
          }
        />
      ))}
    </List>
  );
}

function storageFigures({ database, disk, signingKeySince }: Overview): Figure[] {
  return [
    {
      label: "Database",
      value: readableSize(database.sizeBytes),
      note: `${database.connections} of ${database.maxConnections} connections`,
    },
    disk
      ? {
          label: "Free disk",
          value: readableSize(disk.freeBytes),
          note: (
            <>
              of {readableSize(disk.totalBytes)}, at <code className="break-all">{disk.path}</code>
            </>
          ),
        }
      : { label: "Free disk", value: "unknown", note: "this system does not tell" },
    {
      label: "Signing keys",
      value: signingKeySince ? <RelativeTime at={signingKeySince} /> : "none yet",
      note: signingKeySince ? "in use since" : "made at the first start",
      href: "/admin/keys",
    },
  ];
}

function peopleFigures({ people: { users, disabled, operators } }: Overview): Figure[] {
  return [
    { label: "Users", value: number.format(users), href: "/admin/users" },
    { label: "Operators", value: number.format(operators), href: "/admin/users?state=operator" },
    { label: "Disabled", value: number.format(disabled), href: "/admin/users?state=disabled" },
  ];
}
