import type { Metadata } from "next";
import Link from "next/link";
import type { OwnerPageProps } from "../../_server/owner-page.ts";
import { textOf } from "../../_server/page-query.ts";
import { jobListPath, webhookListPath } from "../../_server/paths.ts";
import { createWebhookAction, sendFirstTestAction } from "../../_server/webhooks/actions.ts";
import { findWebhooksPage } from "../../_server/webhooks/find-webhook-page.ts";
import { ActionForm } from "../action-form.client.tsx";
import { FormButtons } from "../form-buttons.tsx";
import { PageHeader } from "../page-layout.tsx";
import { CreatedWebhook } from "./created-webhook.client.tsx";
import { jobChoices } from "./job-choices.ts";
import { WebhookFields } from "./webhook-fields.tsx";

export const metadata: Metadata = { title: "New webhook" };

/** Other pages prefill the form by the query: `watch`, `job` and `url`. */
export async function NewWebhookPage({ params, searchParams }: OwnerPageProps) {
  const [{ org = null }, query] = await Promise.all([params, searchParams]);
  const { person, owner, home } = await findWebhooksPage(org);
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
            Notify a server, or run a job, when something changes in the repositories that you choose. Read{" "}
            <Link prefetch={false} href="/docs/webhooks#receive-and-verify" className="link">
              how to receive and verify deliveries
            </Link>
            , or see{" "}
            <Link prefetch={false} href="/docs/events" className="link">
              all events
            </Link>
            .
          </>
        }
      />
      <ActionForm
        action={createWebhookAction.bind(null, home)}
        values={job ? { target: "job", jobSourceId: job } : url ? { url } : {}}
        label="New webhook"
      >
        <CreatedWebhook sendTest={sendFirstTestAction.bind(null, home)}>
          <WebhookFields
            isForOrganization={home !== null}
            watched={watched}
            jobs={await jobChoices(person, owner, job)}
            jobsPath={jobListPath(home)}
            searchPath={`${path}/watchable`}
          />
          <FormButtons isGuarded cancelHref={path}>
            Create webhook
          </FormButtons>
        </CreatedWebhook>
      </ActionForm>
    </>
  );
}
