import Link from "next/link";
import { textOf } from "../../_server/page-query.ts";
import { createWebhookAction, sendFirstTestAction } from "../../_server/webhooks/actions.ts";
import type { WebhookPlace } from "../../_server/webhooks/find-webhook-owner.ts";
import { jobsPath, webhookListPath } from "../../_server/webhooks/webhook-paths.ts";
import { ActionForm } from "../action-form.client.tsx";
import { ButtonLink } from "../button.tsx";
import { PageHeader } from "../page-header.tsx";
import { SubmitButton } from "../submit-button.client.tsx";
import { jobChoices } from "./job-choices.ts";
import { MadeWebhook } from "./made-webhook.client.tsx";
import { WebhookFields } from "./webhook-fields.tsx";

export type NewWebhookPageProps = Readonly<{
  place: WebhookPlace;
  /** `watch` fills in what is watched, `job` the run to copy, `url` the address: pages that offer a webhook link here with them. */
  query: Readonly<Record<string, string | string[] | undefined>>;
}>;

/** Makes a webhook for a person or an organization. */
export async function NewWebhookPage({ place: { person, owner, home }, query }: NewWebhookPageProps) {
  const path = webhookListPath(home);
  const watched = [query.watch ?? []].flat().filter((item) => item.length <= 300);
  const job = textOf(query.job);
  const url = textOf(query.url)?.slice(0, 2_000);
  return (
    <>
      <PageHeader
        trail={[{ href: path, label: "Webhooks" }]}
        title="New webhook"
        description={
          <>
            You can change all of this later. Once it is made you send it a test, and see how it was answered.{" "}
            <Link prefetch={false} href="/docs/webhooks#receive-and-verify" className="link">
              How to receive and verify
            </Link>
            ,{" "}
            <Link prefetch={false} href="/docs/events" className="link">
              what is sent
            </Link>
          </>
        }
      />
      <ActionForm
        action={createWebhookAction.bind(null, home)}
        values={job ? { target: "job", jobSourceId: job } : url ? { url } : {}}
        label="New webhook"
      >
        <MadeWebhook sendTest={sendFirstTestAction.bind(null, home)}>
          <WebhookFields
            watched={watched}
            jobs={await jobChoices(person, owner, job)}
            jobsPath={jobsPath(home)}
            searchPath={`${path}/watchable`}
          />
          <div className="flex flex-wrap gap-3">
            <SubmitButton>Make webhook</SubmitButton>
            <ButtonLink href={path}>Cancel</ButtonLink>
          </div>
        </MadeWebhook>
      </ActionForm>
    </>
  );
}
