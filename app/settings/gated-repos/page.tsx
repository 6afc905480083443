import { Lock } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import type { AccessRequestStatus } from "#core/hub/gates/access-request.ts";
import { listOwnAccessRequests, type OwnAccessRequest } from "#core/hub/gates/own-access-requests.ts";
import { ActionForm } from "../../_components/action-form.client.tsx";
import { Card } from "../../_components/card.tsx";
import { Chip } from "../../_components/chip.tsx";
import { EmptyState } from "../../_components/empty-state.tsx";
import { FormMessage } from "../../_components/form-message.tsx";
import { List, ListRow } from "../../_components/list.tsx";
import { PageHeader } from "../../_components/page-header.tsx";
import { Pagination } from "../../_components/pagination.tsx";
import { RelativeTime } from "../../_components/relative-time.tsx";
import { repoTypeLooks } from "../../_components/repos/repo-types.ts";
import { SubmitButton } from "../../_components/submit-button.client.tsx";
import { type PageQuery, textOf } from "../../_server/page-query.ts";
import { repoHref } from "../../_server/repo-page.ts";
import { requirePerson } from "../../_server/session.ts";
import { withdrawAction } from "./actions.ts";

export const metadata: Metadata = { title: "Gated repositories" };

const states: Record<AccessRequestStatus, Readonly<{ tone: "neutral" | "good" | "bad"; label: string; undo?: string }>> = {
  pending: { tone: "neutral", label: "Waiting for an answer", undo: "Take back" },
  accepted: { tone: "good", label: "Access", undo: "Give up access" },
  rejected: { tone: "bad", label: "Rejected" },
};

/** Where somebody has asked for access, and what became of it. */
export default async function GatedReposPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const [person, query] = await Promise.all([requirePerson("/settings/gated-repos"), searchParams]);
  const page = await listOwnAccessRequests(person, { page: Number(textOf(query.page)) });
  return (
    <>
      <PageHeader
        title="Gated repositories"
        description="Repositories whose files you asked to read. Those who manage them see your username and e-mail address."
      />
      {textOf(query.notice) === "withdrawn" && (
        <FormMessage tone="good" className="mb-5">
          Done. They no longer see you in their list.
        </FormMessage>
      )}
      <Card>
        {page.items.length === 0 ? (
          <EmptyState Icon={Lock} title="You have asked for nothing">
            Some repositories show their files only to people who were let in. You ask on the repository's page.
          </EmptyState>
        ) : (
          <List label="Requests">
            {page.items.map((request) => (
              <RequestRow key={request.repoId} request={request} />
            ))}
          </List>
        )}
      </Card>
      <Pagination label="requests" {...page} hrefOf={(at) => `/settings/gated-repos?page=${at}`} />
    </>
  );
}

function RequestRow({ request: { repoId, repo, status, rejectionReason, askedAt } }: Readonly<{ request: OwnAccessRequest }>) {
  const { tone, label, undo } = states[status];
  return (
    <ListRow
      title={
        repo ? (
          <Link prefetch={false} href={repoHref(repo)} className="link min-w-0 break-words">
            {repo.fullName}
          </Link>
        ) : (
          "A repository that you cannot see any more"
        )
      }
      meta={
        <>
          {repo && `${repoTypeLooks[repo.type].word} · `}
          <RelativeTime at={askedAt} />
          {rejectionReason && ` · They write: ${rejectionReason}`}
        </>
      }
      trailing={
        <>
          <Chip tone={tone}>{label}</Chip>
          {undo && (
            <ActionForm action={withdrawAction.bind(null, repoId)} className="grid gap-2">
              <SubmitButton size="small" variant="secondary">
                {undo}
                <span className="sr-only"> {repo?.fullName}</span>
              </SubmitButton>
            </ActionForm>
          )}
        </>
      }
    />
  );
}
