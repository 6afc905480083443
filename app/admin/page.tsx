import { CircleCheck, Cpu, ServerCog } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import { counted } from "#core/counted.ts";
import { needsAttention } from "#core/operations/needs-attention.ts";
import { type Overview, type Queue, type RunningProcess, readOverview } from "#core/operations/read-overview.ts";
import { readSetUpSteps, type SetUpStep } from "#core/operations/set-up-steps.ts";
import { readableSize } from "#core/readable-size.ts";
import { ActionButton } from "../_components/action-form.client.tsx";
import { Checklist, type ChecklistStep } from "../_components/checklist.tsx";
import { Chip } from "../_components/chip.tsx";
import { type Figure, Figures } from "../_components/figures.tsx";
import { EmptyState, List, ListRow } from "../_components/list.tsx";
import { FormMessage, PageColumn, SectionCard } from "../_components/page-layout.tsx";
import { RelativeTime } from "../_components/relative-time.tsx";
import { requireOperator } from "../_server/session.ts";
import { confirmBackupsAction, dismissSetUpAction } from "./actions.ts";
import { AdminCommand } from "./admin-command.tsx";

export const metadata: Metadata = { title: "Overview · Administration" };
const number = new Intl.NumberFormat("en");

const stepTexts: Record<SetUpStep, Omit<ChecklistStep, "isDone">> = {
  origin: {
    title: "Set a public URL",
    text: (
      <>
        Set <code>ORIGIN</code> to an https URL, and <code>TRUST_PROXY</code> to your TLS proxy. Links, redirects and ID tokens
        contain this URL.
      </>
    ),
  },
  mail: {
    title: "Connect a mail server",
    text: (
      <>
        Set <code>SMTP_URL</code>. Without it, confirmations, invitations and password-reset links are not e-mailed; you must pass
        them on yourself.
      </>
    ),
    href: "/admin/mail",
  },
  sandbox: {
    title: "Isolate jobs and Spaces",
    text: (
      <>
        Install bubblewrap, or set <code>JOBS_RUNNER</code> to <code>docker</code>, or to <code>kubernetes</code>, which runs jobs
        but no Spaces. <code>JOBS_RUNNER=off</code> turns both off.
      </>
    ),
  },
  backups: {
    title: "Set up backups",
    text: (
      <>
        Run <AdminCommand>backup --to …</AdminCommand> every night (see{" "}
        <Link prefetch={false} href="/docs/operations" className="link">
          Operations
        </Link>
        ), keep <code>SECRET_KEY</code> and <code>BACKUP_PASSWORD</code> elsewhere, and test a restore. If you make backups by
        other means, confirm them here.
      </>
    ),
    action: (
      <ActionButton action={confirmBackupsAction} label="Backups">
        Backups are set up
      </ActionButton>
    ),
  },
};

export default async function AdminPage() {
  const operator = await requireOperator("/admin");
  const [overview, steps] = await Promise.all([readOverview(operator), readSetUpSteps(operator)]);
  return (
    <PageColumn title="Overview" description={`Version ${overview.version}. All figures are current.`}>
      <Attention overview={overview} />
      {steps && (
        <Checklist
          title="Setup"
          description={
            <>
              For details, run <AdminCommand>doctor</AdminCommand>.
            </>
          }
          steps={steps.map(({ step, isDone }) => ({ ...stepTexts[step], isDone }))}
          dismiss={dismissSetUpAction}
        />
      )}
      <SectionCard title="Background queues" description="Work that runs in the background.">
        <Figures figures={queueFigures(overview)} />
      </SectionCard>
      <SectionCard title="Webhooks and jobs" description="From events to delivery attempts.">
        <WebhookWork overview={overview} />
      </SectionCard>
      <SectionCard title="Processes" isFlush>
        <Processes processes={overview.processes} version={overview.version} />
      </SectionCard>
      <SectionCard title="Storage">
        <Figures figures={storageFigures(overview)} />
      </SectionCard>
      <SectionCard title="People">
        <Figures figures={peopleFigures(overview)} />
      </SectionCard>
    </PageColumn>
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
              View details
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
            oldest: <RelativeTime at={queue.oldestAt} />
          </>
        ) : (
          "nothing waiting"
        )}
        {queue.failed > 0 && `; ${number.format(queue.failed)} failed in the last 7 days`}
      </>
    ),
    ...(href && { href }),
  });
  return [
    figure("Mail", mail, "/admin/mail"),
    figure("Sign-out notices", logoutNotices),
    figure("Repository upkeep", maintenance),
    { label: "Events", value: number.format(events), note: "recorded in the last 24 hours" },
  ];
}

function Processes({ processes, version }: Readonly<{ processes: readonly RunningProcess[]; version: string }>) {
  if (processes.length === 0) {
    return (
      <EmptyState Icon={ServerCog} title="No process has been seen yet">
        Each process reports every 15 seconds that it is alive. Check again in a moment.
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
              {each.host}, process {each.pid} · started <RelativeTime at={each.startedAt} /> · last seen{" "}
              <RelativeTime at={each.seenAt} />
            </>
          }
        />
      ))}
    </List>
  );
}

function storageFigures({ database, disk, signingKeySince, lastBackup }: Overview): Figure[] {
  return [
    {
      label: "Database",
      value: readableSize(database.sizeBytes),
      note: `${database.connections} of ${database.maxConnections} connections`,
    },
    disk
      ? {
          label: "Free disk space",
          value: readableSize(disk.freeBytes),
          note: (
            <>
              of {readableSize(disk.totalBytes)}, at <code className="break-all">{disk.path}</code>
            </>
          ),
        }
      : { label: "Free disk space", value: "unknown", note: "not available on this system" },
    {
      label: "Signing keys",
      value: signingKeySince ? <RelativeTime at={signingKeySince} /> : "None yet",
      note: signingKeySince ? "put into use" : "created when first needed",
      href: "/admin/keys",
    },
    {
      label: "Last backup",
      value: lastBackup ? <RelativeTime at={lastBackup.finishedAt} /> : "None",
      note: lastBackup ? `${readableSize(lastBackup.addedBytes)} added` : <AdminCommand>backup</AdminCommand>,
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

const HOUR_MS = 3600_000;
function WebhookWork({ overview: { work, attempts } }: Readonly<{ overview: Overview }>) {
  return <Figures figures={[...waiting(work), ...tried(attempts), ...running(work)]} />;
}

function waiting({ events, deliveries }: Overview["work"]): Figure[] {
  const { due, oldestDueAt, claimed, later, held } = deliveries;
  return [
    {
      label: "Events to fan out",
      value: number.format(events.waiting),
      note: events.oldestAt ? (
        <>
          oldest: <RelativeTime at={events.oldestAt} />
        </>
      ) : (
        "nothing waiting"
      ),
    },
    {
      label: "Deliveries due",
      value: number.format(due),
      note: oldestDueAt ? (
        <>
          oldest: <RelativeTime at={oldestDueAt} />
        </>
      ) : (
        "nothing is late"
      ),
    },
    { label: "In progress", value: number.format(claimed), note: "sent, waiting for a response" },
    {
      label: "Waiting",
      value: number.format(later),
      note: held > 0 ? `for a retry or a job; ${number.format(held)} more held by disabled webhooks` : "for a retry or a job",
    },
  ];
}

function tried({ since, byOutcome }: Overview["attempts"]): Figure[] {
  // `since` is less than an hour ago if only the last part of the hour was counted.
  const isHour = Date.now() - since.getTime() > HOUR_MS - 60_000;
  const { delivered = 0, rejected = 0, unreachable = 0, blocked = 0, withheld = 0 } = byOutcome;
  const kinds = [
    [rejected, "refused by the receiver"],
    [unreachable, "without a response"],
    [blocked, "to addresses that are not allowed"],
    [withheld, "withheld"],
  ] as const;
  const failed = kinds.reduce((sum, [count]) => sum + count, 0);
  const reasons = kinds.filter(([count]) => count > 0).map(([count, what]) => `${number.format(count)} ${what}`);
  return [
    {
      label: "Delivered",
      value: number.format(delivered),
      note: isHour ? "in the last hour" : `in the last ${counted(Math.ceil((Date.now() - since.getTime()) / 60_000), "minute")}`,
    },
    { label: "Failed attempts", value: number.format(failed), note: reasons.join(", ") || "in the same period" },
  ];
}

function running({ runs, replays }: Overview["work"]): Figure[] {
  return [
    { label: "Jobs running", value: number.format(runs.running), note: `${number.format(runs.waiting)} waiting for a slot` },
    { label: "Replays", value: number.format(replays), note: "of many deliveries, in progress" },
  ];
}
