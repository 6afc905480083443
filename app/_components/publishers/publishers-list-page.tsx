import { Workflow } from "lucide-react";
import type { ReactNode } from "react";
import { isPresetName } from "#core/accounts/publishers/presets.ts";
import type { ListedPublisher } from "#core/hub/publishers/list-publishers.ts";
import { noticeOf, textOf } from "../../_server/page-query.ts";
import { ButtonLink } from "../button.tsx";
import { Card } from "../card.tsx";
import { EmptyState } from "../empty-state.tsx";
import { FormMessage } from "../form-message.tsx";
import type { FormAction } from "../form-state.ts";
import { List } from "../list.tsx";
import { PublisherRow } from "./publisher-row.tsx";
import type { JobSubject } from "./workflow.ts";
import { WorkflowCard } from "./workflow-card.tsx";

export type PublishersListPageProps = Readonly<{
  /** The title and what it is about, as the surroundings have it. */
  header: (add: ReactNode) => ReactNode;
  subject: JobSubject;
  publishers: readonly ListedPublisher[];
  /** Where one is added. */
  addHref: string;
  removeAction: (publisherId: string) => FormAction;
  query: Readonly<Record<string, string | string[] | undefined>>;
}>;

const notices: Readonly<Record<string, string>> = {
  added: "Trusted. What the pipeline has to do is below.",
  removed: "Removed. Its jobs get no more tokens, and those that they had are dead.",
};

/** Whom a repository or a user trusts, and what a pipeline does with it. */
export function PublishersListPage({ header, subject, publishers, addHref, removeAction, query }: PublishersListPageProps) {
  const add = (
    <ButtonLink variant="primary" href={addHref}>
      Add a publisher
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
              Name the pipeline whose jobs may work here. No token is stored there: each job proves which one it is.
            </EmptyState>
          ) : (
            <List label="Trusted publishers">
              {publishers.map((publisher) => (
                <PublisherRow key={publisher.id} publisher={publisher} remove={removeAction(publisher.id)} />
              ))}
            </List>
          )}
        </Card>
        <WorkflowCard subject={subject} first={isPresetName(preset) ? preset : publishers[0]?.preset} />
      </div>
    </>
  );
}
