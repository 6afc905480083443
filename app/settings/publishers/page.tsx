import type { Metadata } from "next";
import { personActor } from "#core/access/actor.ts";
import { listPublishers } from "#core/hub/publishers/list-publishers.ts";
import { PageHeader } from "../../_components/page-layout.tsx";
import { PublishersListPage } from "../../_components/publishers/publishers-list-page.tsx";
import type { PageQuery } from "../../_server/page-query.ts";
import { deleteOwnPublisherAction } from "../../_server/publishers/actions.ts";
import { ownPublishersPath } from "../../_server/publishers/publisher-paths.ts";
import { requireSession } from "../../_server/session.ts";

export const metadata: Metadata = { title: "Trusted publishers" };

export default async function OwnPublishersPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const session = await requireSession(ownPublishersPath);
  const person = personActor(session);
  return (
    <PublishersListPage
      header={(add) => (
        <PageHeader
          title="Trusted publishers"
          description="Pipelines whose jobs can read the gated repositories to which you have access, and nothing else of yours. To let jobs write to a repository, go to its settings."
          actions={add}
        />
      )}
      subject={{ username: session.user.username }}
      publishers={await listPublishers(person, { userId: person.userId })}
      addHref={`${ownPublishersPath}/new`}
      deleteAction={(id) => deleteOwnPublisherAction.bind(null, id)}
      query={await searchParams}
    />
  );
}
