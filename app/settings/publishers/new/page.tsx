import type { Metadata } from "next";
import { isPresetName } from "#core/accounts/publishers/presets.ts";
import { PageHeader } from "../../../_components/page-layout.tsx";
import { NewPublisherForm } from "../../../_components/publishers/new-publisher-form.tsx";
import { type PageQuery, textOf } from "../../../_server/page-query.ts";
import { addOwnPublisherAction } from "../../../_server/publishers/actions.ts";
import { ownPublishersPath } from "../../../_server/publishers/publisher-paths.ts";
import { requireRecentSession } from "../../../_server/session.ts";

export const metadata: Metadata = { title: "New trusted publisher" };

/** A publisher outlives the session that adds it, so the page needs recent authentication (S113). */
export default async function NewOwnPublisherPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const asked = textOf((await searchParams).from);
  const preset = isPresetName(asked) ? asked : "github";
  await requireRecentSession(`${ownPublishersPath}/new?from=${preset}`);
  return (
    <>
      <PageHeader
        trail={[{ href: ownPublishersPath, label: "Trusted publishers" }]}
        title="New trusted publisher"
        description="Choose where the jobs run, and say which ones can read the gated repositories to which you have access."
      />
      <NewPublisherForm
        preset={preset}
        action={addOwnPublisherAction.bind(null, preset)}
        listHref={ownPublishersPath}
        newHref={`${ownPublishersPath}/new`}
      />
    </>
  );
}
