import { Lock } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import { type AccessRequestStatus, listOwnAccessRequests, type OwnAccessRequest } from "#core/hub/gates/access-requests.ts";
import { ActionButton } from "../../_components/action-form.client.tsx";
import { Chip } from "../../_components/chip.tsx";
import { EmptyState, ListPage, ListRow } from "../../_components/list.tsx";
import { RelativeTime } from "../../_components/relative-time.tsx";
import { repoTypeLooks } from "../../_components/repos/repo-types.ts";
import { hrefWith, noticeOf, type PageQuery, textOf } from "../../_server/page-query.ts";
import { repoHref } from "../../_server/repo-page.ts";
import { requirePerson } from "../../_server/session.ts";
import { withdrawAction } from "../actions.ts";

export const metadata: Metadata = { title: "Gated repositories" };

const states: Record<AccessRequestStatus, Readonly<{ tone: "neutral" | "good" | "bad"; label: string; undo?: string }>> = {
  pending: { tone: "neutral", label: "Waiting for a decision", undo: "Withdraw" },
  accepted: { tone: "good", label: "Access", undo: "Give up access" },
  rejected: { tone: "bad", label: "Rejected" },
};

export default async function GatedReposPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const [person, query] = await Promise.all([requirePerson("/settings/gated-repos"), searchParams]);
  const requests = await listOwnAccessRequests(person, { page: Number(textOf(query.page)) });
  return (
    <ListPage
      title="Gated repositories"
      description="Gated repositories to which you requested or were given access. Their maintainers see your username and, if you requested access and were not rejected, your e-mail address."
      notice={noticeOf(
        {
          withdrawn:
            "Done: your entry is deleted, with the access that it gave. The repository's maintainers no longer see you in their list.",
        },
        query.notice,
      )}
      label="Requests"
      things="requests"
      list={requests}
      hrefOf={(page) => hrefWith("/settings/gated-repos", { page })}
      row={(request) => <RequestRow key={request.repoId} request={request} />}
      empty={
        <EmptyState Icon={Lock} title="No requests yet">
          Some repositories show their files only to people with access. Request access on the repository's page.
        </EmptyState>
      }
    />
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
          "A repository that you can no longer see"
        )
      }
      meta={
        <>
          {repo && `${repoTypeLooks[repo.type].word} · `}
          <RelativeTime at={askedAt} />
          {rejectionReason && ` · Reason: ${rejectionReason}`}
        </>
      }
      trailing={
        <>
          <Chip tone={tone}>{label}</Chip>
          {undo && (
            <ActionButton action={withdrawAction.bind(null, repoId)}>
              {undo}
              <span className="sr-only"> {repo?.fullName}</span>
            </ActionButton>
          )}
        </>
      }
    />
  );
}
