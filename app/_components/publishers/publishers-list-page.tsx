import { Workflow } from "lucide-react";
import type { ReactNode } from "react";
import { isPresetName, type PresetName, presetNames, presets } from "#core/accounts/publishers/presets.ts";
import { pipelineOf } from "#core/accounts/publishers/publisher.ts";
import { env } from "#core/env.ts";
import type { ListedPublisher } from "#core/hub/publishers/list-publishers.ts";
import { noticeOf, textOf } from "../../_server/page-query.ts";
import { ButtonLink } from "../button.tsx";
import { Chip } from "../chip.tsx";
import { CodeBlock } from "../copyable.tsx";
import { ConfirmDestructive } from "../details-form.client.tsx";
import type { FormAction } from "../form-state.ts";
import { EmptyState, List, ListRow } from "../list.tsx";
import { Card, FormMessage, SectionCard } from "../page-layout.tsx";
import { LastUsed, RelativeTime } from "../relative-time.tsx";
import { Tabs } from "../tabs.tsx";
import { type JobSubject, resourceOf, workflowFiles, workflowOf } from "./workflow.ts";

type PublishersListPageProps = Readonly<{
  header: (add: ReactNode) => ReactNode;
  subject: JobSubject;
  publishers: readonly ListedPublisher[];
  addHref: string;
  deleteAction: (publisherId: string) => FormAction;
  query: Readonly<Record<string, string | string[] | undefined>>;
}>;

const notices: Readonly<Record<string, string>> = {
  added: "Publisher added. Set up your pipeline as shown below.",
  deleted: "Publisher deleted. Its tokens no longer work.",
};

export function PublishersListPage({ header, subject, publishers, addHref, deleteAction, query }: PublishersListPageProps) {
  const add = (
    <ButtonLink variant="primary" href={addHref}>
      New publisher
    </ButtonLink>
  );
  const [notice, preset] = [noticeOf(notices, query.notice), textOf(query.from)];
  return (
    <>
      {header(publishers.length > 0 && add)}
      <div className="grid gap-5">
        {notice && <FormMessage tone="good">{notice}</FormMessage>}
        <Card>
          {publishers.length === 0 ? (
            <EmptyState Icon={Workflow} title="No publishers yet" action={add}>
              Choose a pipeline whose jobs get access. No token is stored: each job proves its identity.
            </EmptyState>
          ) : (
            <List label="Trusted publishers">
              {publishers.map((publisher) => (
                <PublisherRow key={publisher.id} publisher={publisher} onDelete={deleteAction(publisher.id)} />
              ))}
            </List>
          )}
        </Card>
        <WorkflowCard subject={subject} first={isPresetName(preset) ? preset : publishers[0]?.preset} />
      </div>
    </>
  );
}

type WorkflowCardProps = Readonly<{
  subject: JobSubject;
  first?: PresetName;
}>;

function WorkflowCard({ subject, first = "github" }: WorkflowCardProps) {
  const { ORIGIN } = env();
  const inTurn = [first, ...presetNames.filter((name) => name !== first)];
  return (
    <SectionCard
      title="Pipeline"
      description={
        <>
          The job asks its provider for an ID token with the audience <code className="break-all">{ORIGIN}</code> and exchanges it
          here for an access token for <code className="break-all">{resourceOf(subject)}</code>. The access token is valid for one
          hour.
        </>
      }
    >
      <Tabs
        label="Example for"
        tabs={inTurn.map((name) => ({
          label: presets[name].label,
          content: (
            <div className="grid gap-2">
              <p className="text-muted text-small">{workflowFiles[name]}</p>
              <CodeBlock code={workflowOf(name, subject, ORIGIN)} label={`${workflowFiles[name]} for ${presets[name].label}`} />
            </div>
          ),
        }))}
      />
    </SectionCard>
  );
}

type PublisherRowProps = Readonly<{
  publisher: ListedPublisher;
  repo?: ReactNode;
  onDelete?: FormAction;
}>;

export function PublisherRow({ publisher, repo, onDelete }: PublisherRowProps) {
  const { preset, issuer, claims, pinned, createdAt, addedBy, lastUsedAt, lastRefusal } = publisher;
  const { label } = presets[preset];
  const name = pipelineOf(publisher);
  const recorded = Object.entries(pinned).filter(([claim]) => !Object.hasOwn(claims, claim));
  return (
    <ListRow
      title={
        <>
          {repo ?? <span className="min-w-0 break-all">{name}</span>}
          <Chip>{label}</Chip>
        </>
      }
      meta={
        <span className="block first-letter:uppercase">
          <LastUsed at={lastUsedAt} /> · added <RelativeTime at={createdAt} />
          {addedBy && <> by {addedBy}</>}
        </span>
      }
    >
      <dl className="mt-2 grid gap-x-3 gap-y-1 text-small sm:grid-cols-[max-content_1fr]">
        <Fact name="iss" value={issuer} />
        {Object.entries(claims).map(([claim, value]) => (
          <Fact key={claim} name={claim} value={value} />
        ))}
        {recorded.map(([claim, value]) => (
          <Fact key={claim} name={claim} value={value} note="recorded with the first run" />
        ))}
      </dl>
      {lastRefusal && (
        <p className="mt-2 break-words text-bad text-small">
          Refused <RelativeTime at={lastRefusal.at} />: {lastRefusal.reason}.
        </p>
      )}
      {onDelete && (
        <div className="mt-3">
          <ConfirmDestructive
            action={onDelete}
            trigger="Delete"
            title={
              <>
                Stop trusting <span className="break-all">{name}</span>?
              </>
            }
            confirm="Delete the publisher"
            size="small"
          >
            Its jobs can no longer get tokens, and existing tokens stop working immediately.
          </ConfirmDestructive>
        </div>
      )}
    </ListRow>
  );
}

function Fact({ name, value, note }: Readonly<{ name: string; value: string; note?: string }>) {
  return (
    <div className="min-w-0 sm:contents">
      <dt className="break-all text-muted">
        <code>{name}</code>
      </dt>
      <dd className="min-w-0 break-all">
        <code>{value}</code>
        {note && <span className="break-words text-muted"> · {note}</span>}
      </dd>
    </div>
  );
}
