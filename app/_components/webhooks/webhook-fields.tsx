import { type EventDomain, eventDomains, type TestKind, testKinds, WEBHOOK_NAME_MAX_CHARACTERS } from "@keyhook/sdk";
import Link from "next/link";
import type { Webhook } from "#core/webhooks/manage/webhook.ts";
import { ChoiceRow, Choices, Field, Select } from "../fields.client.tsx";
import { RunnerNotice } from "../jobs/run-facts.tsx";
import { SectionCard } from "../page-layout.tsx";
import { FieldError } from "./field-error.client.tsx";
import { WatchedField } from "./watched-field.client.tsx";
import { itemOf, targetName } from "./webhook-list.tsx";

export type JobChoice = Readonly<{ id: string; label: string }>;

type WebhookFieldsProps = Readonly<{
  webhook?: Webhook;
  isForOrganization: boolean;
  /** The items that a new webhook watches at first. */
  watched?: readonly string[];
  jobs: readonly JobChoice[];
  jobsPath: string;
  searchPath: string;
}>;

const kindWords: Readonly<Record<EventDomain, ReadonlyArray<readonly [TestKind, string]>>> = {
  repo: [
    ["repo.content.update", "Content pushed"],
    ["repo.create", "Repository created"],
    ["repo.update", "Other change, reported by a platform"],
    ["repo.config.update", "Settings changed"],
    ["repo.move", "Renamed or moved"],
    ["repo.delete", "Repository deleted"],
  ],
  discussion: [
    ["discussion.create", "Discussion or pull request opened"],
    ["discussion.update", "Status, title, pin or lock changed"],
    ["discussion.delete", "Discussion deleted"],
    ["discussion.comment.create", "Comment added"],
    ["discussion.comment.update", "Comment edited or hidden"],
    ["discussion.comment.delete", "Comment deleted"],
  ],
};
const domainWords: Readonly<Record<EventDomain, string>> = { repo: "Repositories", discussion: "Discussions and pull requests" };

export function WebhookFields({ webhook, isForOrganization, watched = [], jobs, jobsPath, searchPath }: WebhookFieldsProps) {
  return (
    <>
      <SectionCard title="Target" description="Where events are sent.">
        <div className="group/target grid max-w-reading gap-5">
          <Field
            name="name"
            label="Name"
            hint="Shown in lists instead of the target."
            maxLength={WEBHOOK_NAME_MAX_CHARACTERS}
            autoComplete="off"
            isOptional
          />
          <Choices
            legend="Send to"
            name="target"
            defaultValue={webhook?.job ? "job" : "url"}
            className="sm:grid-cols-2"
            options={[
              { value: "url", label: "URL", hint: "Each event is posted to this URL as JSON." },
              { value: "job", label: "Job", hint: "Each event runs a job here, with the event in an environment variable." },
            ]}
          />
          <div className="group-has-[input[value=job]:checked]/target:hidden">
            <Field
              name="url"
              type="url"
              inputMode="url"
              label="URL"
              hint="Must respond with 2xx within 15 seconds; otherwise we retry for two days."
              placeholder="https://example.com/hooks"
              isMono
            />
          </div>
          <div className="grid gap-3 group-has-[input[value=url]:checked]/target:hidden">
            <RunnerNotice />
            <JobField webhook={webhook} jobs={jobs} jobsPath={jobsPath} />
          </div>
        </div>
      </SectionCard>
      <SectionCard
        title="Events"
        description={`You can watch anything that you can see${isForOrganization ? ", if the organization can see it, too" : ""}.`}
      >
        <div className="grid max-w-reading gap-5">
          <WatchedField watched={webhook ? webhook.watched.map(itemOf) : watched} searchPath={searchPath} />
          <EventFields webhook={webhook} />
        </div>
      </SectionCard>
      <SectionCard
        title="Secret"
        description="Used to sign every delivery to a URL so that your server can verify it; also sent in a header. A job gets it as WEBHOOK_SECRET."
      >
        <SecretFields webhook={webhook} />
      </SectionCard>
    </>
  );
}

function EventFields({ webhook }: Pick<WebhookFieldsProps, "webhook">) {
  const selected = webhook ? selectedKinds(webhook) : testKinds;
  return (
    <div className="group/hears grid gap-2">
      <Choices
        legend="Events"
        name="hears"
        defaultValue={selected.length === testKinds.length ? "all" : "some"}
        className="sm:grid-cols-2"
        options={[
          { value: "all", label: "All events" },
          { value: "some", label: "Selected events" },
        ]}
      />
      <div className="hidden gap-x-6 gap-y-3 group-has-[input[value=some]:checked]/hears:grid sm:grid-cols-2">
        {eventDomains.map((domain) => (
          <fieldset key={domain}>
            <legend className="text-muted text-small">{domainWords[domain]}</legend>
            {kindWords[domain].map(([kind, words]) => (
              <ChoiceRow
                key={kind}
                type="checkbox"
                name="events"
                value={kind}
                label={words}
                hint={<code className="text-fine">{kind}</code>}
                defaultChecked={selected.includes(kind)}
              />
            ))}
          </fieldset>
        ))}
      </div>
      <p className="text-muted text-small">
        The{" "}
        <Link prefetch={false} href="/docs/events" target="_blank" className="link">
          event catalog
        </Link>{" "}
        has a sample payload of every event.
      </p>
      <FieldError name="events" />
    </div>
  );
}

export function selectedKinds({ domains, events }: Pick<Webhook, "domains" | "events">): readonly TestKind[] {
  return events.length > 0 ? events : domains.flatMap((domain) => kindWords[domain].map(([kind]) => kind));
}

function JobField({ webhook, jobs, jobsPath }: Pick<WebhookFieldsProps, "webhook" | "jobs" | "jobsPath">) {
  const link = (
    <Link prefetch={false} href={jobsPath} className="link">
      Jobs
    </Link>
  );
  const isSet = Boolean(webhook?.job);
  if (jobs.length === 0 && !isSet) {
    return (
      <p className="text-muted text-small">No jobs to copy yet. Run one under {link}, check its result, and choose it here.</p>
    );
  }
  return (
    <Select
      name="jobSourceId"
      label="Job to copy"
      hint={<>Its image or Space, command, environment, secrets and limits are copied. {link}</>}
      options={[
        ...(webhook?.job ? [{ value: "", label: `Unchanged (${targetName(webhook)})` }] : []),
        ...jobs.map(({ id, label }) => ({ value: id, label })),
      ]}
    />
  );
}

function SecretFields({ webhook }: Pick<WebhookFieldsProps, "webhook">) {
  const isNew = webhook === undefined;
  return (
    <div className="group/secret grid max-w-reading gap-3">
      <div role="radiogroup" aria-label="Secret" className="-my-2">
        {!isNew && (
          <ChoiceRow
            type="radio"
            name="signing"
            value="keep"
            label={webhook.hasSecret ? "Keep the current secret" : "Continue without a secret"}
            {...(webhook.hasSecret && {
              hint: "If the target changes to another scheme, host, port, relay or job, select “Use my own secret” and enter it again.",
            })}
            defaultChecked
          />
        )}
        <ChoiceRow
          type="radio"
          name="signing"
          value="generate"
          label={isNew ? "Generate a secret" : "Generate a new secret"}
          hint={
            webhook?.hasSecret
              ? "Shown once. For 24 hours, deliveries to a URL are signed with both secrets, so that you have time to switch."
              : "Shown once, on the next page."
          }
          defaultChecked={isNew}
        />
        <ChoiceRow type="radio" name="signing" value="own" label="Use my own secret" />
        {(isNew || webhook.hasSecret) && (
          <ChoiceRow
            type="radio"
            name="signing"
            value="none"
            label="No secret"
            hint="Deliveries to a URL are not signed: anyone who knows the URL can send fake ones."
          />
        )}
      </div>
      {/* A new target may need the secret although another choice is selected. The field's error must then be visible. */}
      <div className="hidden has-[[aria-invalid=true]]:block group-has-[input[value=own]:checked]/secret:block">
        <Field
          name="secret"
          type="password"
          label="Your secret"
          hint="Letters, digits and punctuation, preferably long and random."
          isOptional
          isMono
        />
      </div>
    </div>
  );
}
