import { Lock, Pencil, Pin } from "lucide-react";
import { TITLE_MAX_CHARACTERS } from "#core/hub/discussions/discussion.ts";
import { SubmitButton } from "../../../../../../_components/action-form.client.tsx";
import { Chip } from "../../../../../../_components/chip.tsx";
import { FormDetails } from "../../../../../../_components/details-form.client.tsx";
import { CancelButton } from "../../../../../../_components/disclosure.client.tsx";
import { Field } from "../../../../../../_components/fields.client.tsx";
import { NavLink } from "../../../../../../_components/navigation.client.tsx";
import { Trail } from "../../../../../../_components/page-layout.tsx";
import { RelativeTime } from "../../../../../../_components/relative-time.tsx";
import { repoHref } from "../../../../../../_server/repo-page.ts";
import { changeTitleAction } from "../actions.ts";
import { AuthorName, StatusChip } from "../status-chip.tsx";
import type { DiscussionPage } from "./discussion-page.ts";

export function DiscussionHeader({ page }: Readonly<{ page: DiscussionPage }>) {
  const { repo, discussion, href, mayUpdate } = page;
  const { num, title, author, createdAt, baseRef, isPullRequest, isPinned, isLocked } = discussion;
  return (
    <header className="grid gap-3">
      <div>
        <Trail steps={[{ href: repoHref(repo, "discussions"), label: "Discussions" }]} />
        <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
          <h2 className="min-w-0 break-words text-title">
            {title} <span className="font-normal text-muted">#{num}</span>
          </h2>
          {mayUpdate && <EditTitle page={page} />}
        </div>
      </div>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2 text-muted text-small">
        <StatusChip discussion={discussion} />
        {isPinned && (
          <Chip>
            <Pin className="size-3.5" aria-hidden="true" />
            Pinned
          </Chip>
        )}
        {isLocked && (
          <Chip>
            <Lock className="size-3.5" aria-hidden="true" />
            Locked
          </Chip>
        )}
        <p className="min-w-0 break-words">
          <AuthorName author={author} isStrong /> opened this {isPullRequest ? "pull request" : "discussion"}{" "}
          <RelativeTime at={createdAt} />
          {baseRef && (
            <>
              , into <code>{baseRef.replace(/^refs\/heads\//, "")}</code>
            </>
          )}
        </p>
      </div>
      {isPullRequest && (
        <nav aria-label="Pull request" className="tab-list sm:border-line sm:border-b">
          {[
            { href, label: "Conversation", isExact: true },
            { href: `${href}/files`, label: "Files changed" },
          ].map(({ label, ...link }) => (
            <NavLink key={label} {...link}>
              {label}
            </NavLink>
          ))}
        </nav>
      )}
    </header>
  );
}

function EditTitle({ page: { at, discussion } }: Readonly<{ page: DiscussionPage }>) {
  return (
    <FormDetails
      key={discussion.title}
      action={changeTitleAction.bind(null, at)}
      values={{ title: discussion.title }}
      trigger={
        <>
          <Pencil className="size-4" aria-hidden="true" />
          Edit title
        </>
      }
      look={{ size: "small" }}
    >
      <Field name="title" label="Title" maxLength={TITLE_MAX_CHARACTERS} autoComplete="off" />
      <div className="flex gap-2">
        <SubmitButton size="small">Save title</SubmitButton>
        <CancelButton size="small" />
      </div>
    </FormDetails>
  );
}
