import Link from "next/link";
import { type AccessRequest, REASON_MAX_CHARACTERS } from "#core/hub/gates/access-request.ts";
import type { RepoName } from "#core/hub/repos/find-repo.ts";
import { ActionForm } from "../../../../../../_components/action-form.client.tsx";
import { Avatar } from "../../../../../../_components/avatar.tsx";
import { avatarSrc } from "../../../../../../_components/avatar-src.ts";
import { buttonClass } from "../../../../../../_components/button.tsx";
import { Field } from "../../../../../../_components/field.client.tsx";
import { ListRow } from "../../../../../../_components/list.tsx";
import { RelativeTime } from "../../../../../../_components/relative-time.tsx";
import { SubmitButton } from "../../../../../../_components/submit-button.client.tsx";
import { decideAction } from "./actions.ts";

export type AccessRowProps = Readonly<{
  repoName: RepoName;
  request: AccessRequest;
  /** Without a gate there is nothing to decide. */
  isOpen: boolean;
}>;

/** Somebody who asked or was let in, and what can be answered. */
export function AccessRow({ repoName, request, isOpen }: AccessRowProps) {
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
          {user.email && <span className="break-all"> · {user.email}</span>} · <RelativeTime at={askedAt} />
        </>
      }
    >
      {message && <blockquote className="mt-2 whitespace-pre-wrap break-words border-line border-l-3 pl-3">{message}</blockquote>}
      {rejectionReason && <p className="mt-2 text-muted text-small">They were told: {rejectionReason}</p>}
      {isOpen && (
        <div className="mt-3 flex flex-wrap items-start gap-2">
          {status !== "accepted" && <Answer {...{ repoName, request, name }} to="accepted" label="Accept" />}
          {status !== "rejected" && <Reject {...{ repoName, request, name }} />}
          {status === "rejected" && <Answer {...{ repoName, request, name }} to="pending" label="Let them wait again" />}
        </div>
      )}
    </ListRow>
  );
}

type Answering = Readonly<{ repoName: RepoName; request: AccessRequest; name: string }>;

function Answer({ repoName, request, name, to, label }: Answering & Readonly<{ to: string; label: string }>) {
  return (
    <ActionForm action={decideAction.bind(null, repoName, request.user.id)} className="grid gap-2">
      <input type="hidden" name="list" value={request.status} />
      <SubmitButton size="small" variant="secondary" name="status" value={to}>
        {label}
        <span className="sr-only"> {name}</span>
      </SubmitButton>
    </ActionForm>
  );
}

/** With a word why, if one likes. */
function Reject({ repoName, request, name }: Answering) {
  return (
    <details className="min-w-0">
      <summary className={buttonClass({ variant: "danger", size: "small" })}>
        {request.status === "accepted" ? "Shut out" : "Reject"}
        <span className="sr-only"> {name}</span>
      </summary>
      <ActionForm action={decideAction.bind(null, repoName, request.user.id)} className="mt-3 grid max-w-sm gap-3">
        <input type="hidden" name="list" value={request.status} />
        <Field
          name="rejectionReason"
          label="Reason"
          hint={`${name} will read it.`}
          maxLength={REASON_MAX_CHARACTERS}
          autoComplete="off"
          isOptional
        />
        <div>
          <SubmitButton size="small" variant="destroy" name="status" value="rejected">
            {request.status === "accepted" ? "Shut them out" : "Reject the request"}
          </SubmitButton>
        </div>
      </ActionForm>
    </details>
  );
}
