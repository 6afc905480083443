import { UserCheck } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import { notFound } from "next/navigation";
import {
  type AccessRequest,
  type AccessRequestStatus,
  accessRequestStatuses,
  countAccessRequests,
  listAccessRequests,
  REASON_MAX_CHARACTERS,
} from "#core/hub/gates/access-requests.ts";
import type { RepoName } from "#core/hub/repos/find-repo.ts";
import { isMailSent } from "#core/mail/queue-mail.ts";
import { ActionForm, SubmitButton } from "../../../../../../_components/action-form.client.tsx";
import { Avatar, avatarSrc } from "../../../../../../_components/avatar.tsx";
import { ButtonLink } from "../../../../../../_components/button.tsx";
import { CancelButton, Disclosure } from "../../../../../../_components/disclosure.client.tsx";
import { Field } from "../../../../../../_components/fields.client.tsx";
import { PressGuard } from "../../../../../../_components/form-buttons.tsx";
import { EmptyState, ListRow, PagedList } from "../../../../../../_components/list.tsx";
import { FormMessage, SectionCard, Trail } from "../../../../../../_components/page-layout.tsx";
import { RelativeTime } from "../../../../../../_components/relative-time.tsx";
import { hrefWith, noticeOf, type PageQuery, textOf } from "../../../../../../_server/page-query.ts";
import { type RepoParams, repoHref, repoNameOf, repoPage } from "../../../../../../_server/repo-page.ts";
import { decideAction, grantAction } from "../actions.ts";

export const metadata: Metadata = { title: "Access" };

const lists: Record<AccessRequestStatus, Readonly<{ label: string; empty: string }>> = {
  pending: { label: "Waiting", empty: "No waiting requests" },
  accepted: { label: "With access", empty: "Nobody has access yet" },
  rejected: { label: "Rejected", empty: "No rejected requests" },
};

const notices = ({ isPrivate }: Readonly<{ isPrivate: boolean }>): Record<string, string> => {
  const effect = isPrivate ? "The user can read the files once the repository is public." : "The user can now read the files.";
  return {
    accepted: `Accepted. ${effect}`,
    rejected: "Rejected. The user cannot read the files.",
    pending: "The request is waiting again.",
    granted: `Access granted. ${effect}`,
  };
};

export default async function AccessPage({ params, searchParams }: Readonly<{ params: RepoParams; searchParams: PageQuery }>) {
  const [{ repo, person, mayManage }, query] = await Promise.all([repoPage(params), searchParams]);
  if (!mayManage || !person) notFound();
  const name = repoNameOf(repo);
  const status = accessRequestStatuses.find((one) => one === textOf(query.list)) ?? "pending";
  const [counts, requests] = await Promise.all([
    countAccessRequests(repo),
    listAccessRequests(person, name, { status, page: Number(textOf(query.page)) }),
  ]);
  const path = repoHref(repo, "settings", "access");
  const notice = noticeOf(notices(repo), query.notice);
  return (
    <div className="grid gap-5">
      <div>
        <Trail steps={[{ href: `${repoHref(repo, "settings")}?tab=access`, label: "Settings" }]} />
        <h2 className="text-lead">People with access to the files</h2>
        <p className="text-muted text-small">
          {repo.gated === "none"
            ? "The gate is off: everyone who can see the repository can read its files. Earlier decisions are kept."
            : repo.isPrivate
              ? "The repository is private: only its owner, or its organization's members, can see it. The users in the list “With access” can read the files once it is public."
              : "Everyone can see the repository and its README. Only its owner, or its organization's members, and the users in the list “With access” can read the files."}
        </p>
      </div>
      {notice && <FormMessage tone="good">{notice}</FormMessage>}
      <nav aria-label="Requests" className="flex flex-wrap gap-2">
        {accessRequestStatuses.map((one) => (
          <ButtonLink
            key={one}
            size="small"
            variant={one === status ? "primary" : "secondary"}
            href={`${path}?list=${one}`}
            aria-current={one === status ? "page" : undefined}
          >
            {lists[one].label} ({counts[one]})
          </ButtonLink>
        ))}
      </nav>
      <PagedList
        label={lists[status].label}
        things="requests"
        list={requests}
        hrefOf={(page) => hrefWith(path, { list: status, page })}
        row={(request) => <AccessRow key={request.user.id} repoName={name} request={request} isOpen={repo.gated !== "none"} />}
        empty={
          <EmptyState Icon={UserCheck} title={lists[status].empty}>
            {repo.gated === "none"
              ? "Nobody needs access while the gate is off."
              : status !== "pending"
                ? "You can grant access below."
                : repo.gated === "auto"
                  ? "With this gate, every request is accepted immediately. See the list “With access”."
                  : `Requests appear here.${isMailSent() ? " The owner, or the organization's administrators and the repository's creator, get an e-mail for each." : ""}`}
          </EmptyState>
        }
      />
      {repo.gated !== "none" && (
        <SectionCard
          title="New access"
          description={`The user need not have requested it${isMailSent() ? ", and is notified by e-mail" : ""}.`}
        >
          <ActionForm action={grantAction.bind(null, name)} label="New access" className="grid max-w-reading gap-4">
            <Field name="user" label="Username" autoComplete="off" autoCapitalize="none" spellCheck={false} />
            <SubmitButton variant="secondary">Grant access</SubmitButton>
          </ActionForm>
        </SectionCard>
      )}
    </div>
  );
}

type AccessRowProps = Readonly<{
  repoName: RepoName;
  request: AccessRequest;
  /** Without a gate, there are no requests to decide. */
  isOpen: boolean;
}>;

function AccessRow({ repoName, request, isOpen }: AccessRowProps) {
  const { user, status, message, rejectionReason, askedAt } = request;
  const name = user.fullName || user.username;
  return (
    <ListRow
      leading={<Avatar name={name} src={avatarSrc(user.username, user.avatarId)} />}
      title={
        <Link prefetch={false} href={`/${user.username}`} className="link min-w-0 break-words">
          <bdi>{name}</bdi>
        </Link>
      }
      meta={
        <>
          {user.username}
          {user.email && <span className="wrap-anywhere"> · {user.email}</span>} · <RelativeTime at={askedAt} />
        </>
      }
    >
      {message && <blockquote className="mt-2 whitespace-pre-wrap break-words border-line border-l-3 pl-3">{message}</blockquote>}
      {rejectionReason && <p className="mt-2 text-muted text-small">Reason given: {rejectionReason}</p>}
      {isOpen && (
        <div className="mt-3 flex flex-wrap items-start gap-2">
          {status !== "accepted" && <DecideButton {...{ repoName, request, name }} to="accepted" label="Accept" />}
          {status !== "rejected" && <Reject {...{ repoName, request, name }} />}
          {status === "rejected" && <DecideButton {...{ repoName, request, name }} to="pending" label="Reopen request" />}
        </div>
      )}
    </ListRow>
  );
}

type DecisionProps = Readonly<{ repoName: RepoName; request: AccessRequest; name: string }>;

function DecideButton({ repoName, request, name, to, label }: DecisionProps & Readonly<{ to: string; label: string }>) {
  return (
    <ActionForm action={decideAction.bind(null, repoName, request.user.id)} className="grid gap-2">
      <input type="hidden" name="list" value={request.status} />
      <PressGuard>
        <SubmitButton size="small" variant="secondary" name="status" value={to}>
          {label}
          <span className="sr-only"> {name}</span>
        </SubmitButton>
      </PressGuard>
    </ActionForm>
  );
}

function Reject({ repoName, request, name }: DecisionProps) {
  return (
    <Disclosure
      className="min-w-0"
      look={{ variant: "danger", size: "small" }}
      trigger={
        <>
          {request.status === "accepted" ? "Remove access" : "Reject"}
          <span className="sr-only">: {name}</span>
        </>
      }
    >
      <ActionForm action={decideAction.bind(null, repoName, request.user.id)} className="mt-3 grid max-w-sm gap-3">
        <input type="hidden" name="list" value={request.status} />
        <Field
          name="rejectionReason"
          label="Reason"
          hint={`${name} will see it.`}
          maxLength={REASON_MAX_CHARACTERS}
          autoComplete="off"
          isOptional
        />
        <div className="flex flex-wrap gap-2">
          <SubmitButton size="small" variant="destroy" name="status" value="rejected">
            {request.status === "accepted" ? "Remove access" : "Reject request"}
          </SubmitButton>
          <CancelButton size="small" />
        </div>
      </ActionForm>
    </Disclosure>
  );
}
