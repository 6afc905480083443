import { eventDomains } from "@keyhook/sdk";
import Link from "next/link";
import type { Webhook } from "#core/webhooks/manage/webhook.ts";
import { ChoiceRow } from "../choice-row.client.tsx";
import { Field } from "../field.client.tsx";
import { SectionCard } from "../section-card.tsx";
import { Select } from "../select.client.tsx";
import { FieldError } from "./field-error.client.tsx";
import { targetName } from "./target-name.ts";
import { WatchedField } from "./watched-field.client.tsx";
import { itemOf } from "./webhook-list.tsx";

/** A run whose spec a webhook can copy. */
export type JobChoice = Readonly<{ id: string; label: string }>;

export type WebhookFieldsProps = Readonly<{
  /** As it is now; absent for a new one. */
  webhook?: Webhook;
  /** What a new one watches to begin with. */
  watched?: readonly string[];
  jobs: readonly JobChoice[];
  /** Where runs are. */
  jobsPath: string;
  /** Where what can be watched is searched. */
  searchPath: string;
}>;

const domainHints = {
  repo: "Pushes, settings, and repositories that are made, moved or deleted.",
  discussion: "Discussions, pull requests and their comments.",
} as const;

/** What a webhook is made of: whom it tells, of what, and with which secret. */
export function WebhookFields({ webhook, watched = [], jobs, jobsPath, searchPath }: WebhookFieldsProps) {
  return (
    <>
      <SectionCard title="Target" description="What is told when something changes.">
        <div className="group/target grid max-w-reading gap-5">
          <div role="radiogroup" aria-label="Target" className="grid gap-3 sm:grid-cols-2">
            <ChoiceRow
              type="radio"
              name="target"
              value="url"
              label="Address"
              hint="Each event is posted to it as JSON."
              defaultChecked={!webhook?.job}
              isBoxed
            />
            <ChoiceRow
              type="radio"
              name="target"
              value="job"
              label="Job"
              hint="Each event runs a job here, which gets it in a variable."
              defaultChecked={Boolean(webhook?.job)}
              isBoxed
            />
          </div>
          <div className="group-has-[input[value=job]:checked]/target:hidden">
            <Field
              name="url"
              type="url"
              inputMode="url"
              label="Address"
              hint="It answers with a status of 200 to 299 within 15 seconds; anything else is tried again for two days."
              placeholder="https://example.com/hooks"
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              isMono
            />
          </div>
          <div className="group-has-[input[value=url]:checked]/target:hidden">
            <JobField webhook={webhook} jobs={jobs} jobsPath={jobsPath} />
          </div>
        </div>
      </SectionCard>
      <SectionCard title="Events" description="What it hears of. Anything public can be watched, and what you may read.">
        <div className="grid max-w-reading gap-5">
          <WatchedField watched={webhook ? webhook.watched.map(itemOf) : watched} searchPath={searchPath} />
          <fieldset>
            <legend className="font-medium">Domains</legend>
            {eventDomains.map((domain) => (
              <ChoiceRow
                key={domain}
                type="checkbox"
                name="domains"
                value={domain}
                label={<code>{domain}</code>}
                hint={domainHints[domain]}
                defaultChecked={webhook ? webhook.domains.includes(domain) : true}
              />
            ))}
            <FieldError name="domains" />
          </fieldset>
        </div>
      </SectionCard>
      <SectionCard
        title="Secret"
        description="With it the target knows that a delivery is from here: each is signed, and carries the secret in a header."
      >
        <SecretFields webhook={webhook} />
      </SectionCard>
    </>
  );
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
      <p className="text-muted text-small">
        There is no run to copy yet. Run the job once under {link}, see that it does what it should, and choose it here.
      </p>
    );
  }
  return (
    <Select
      name="jobSourceId"
      label="Run to copy"
      hint={
        <>
          Its image or Space, command, environment and secrets are copied; what happens to the run later changes nothing. {link}
        </>
      }
      options={[
        ...(webhook?.job ? [{ value: "", label: `As it is now (${targetName(webhook)})` }] : []),
        ...jobs.map(({ id, label }) => ({ value: id, label })),
      ]}
    />
  );
}

function SecretFields({ webhook }: Pick<WebhookFieldsProps, "webhook">) {
  const isNew = webhook === undefined;
  return (
    <div className="group/secret grid max-w-reading gap-3">
      <div role="radiogroup" aria-label="Secret">
        {!isNew && (
          <ChoiceRow
            type="radio"
            name="signing"
            value="keep"
            label={webhook.hasSecret ? "Keep the present one" : "None, as it is now"}
            {...(webhook.hasSecret && {
              hint: "Only while the target stays the same: another host, port or job needs the secret again.",
            })}
            defaultChecked
          />
        )}
        <ChoiceRow
          type="radio"
          name="signing"
          value="generate"
          label={isNew ? "Generate one" : "Generate a new one"}
          hint={
            webhook?.hasSecret
              ? "You see it once. The present one signs beside it for 24 hours, so that nothing is refused while you change over."
              : "You see it once, on the next page."
          }
          defaultChecked={isNew}
        />
        <ChoiceRow type="radio" name="signing" value="own" label="Use one of mine" />
        {(isNew || webhook.hasSecret) && (
          <ChoiceRow
            type="radio"
            name="signing"
            value="none"
            label="None"
            hint="Deliveries are not signed: whoever knows the address can pretend to be us."
          />
        )}
      </div>
      <div className="hidden group-has-[input[value=own]:checked]/secret:block">
        <Field
          name="secret"
          type="password"
          label="Your secret"
          hint="Letters, digits and punctuation; long and random is best."
          autoComplete="off"
          isOptional
          isMono
        />
      </div>
    </div>
  );
}
