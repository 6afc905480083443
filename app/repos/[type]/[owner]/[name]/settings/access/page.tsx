import { UserCheck } from "lucide-react";
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { type AccessRequestStatus, accessRequestStatuses } from "#core/hub/gates/access-request.ts";
import { countAccessRequests } from "#core/hub/gates/count-access-requests.ts";
import { listAccessRequests } from "#core/hub/gates/list-access-requests.ts";
import { ActionForm } from "../../../../../../_components/action-form.client.tsx";
import { ButtonLink } from "../../../../../../_components/button.tsx";
import { Card } from "../../../../../../_components/card.tsx";
import { EmptyState } from "../../../../../../_components/empty-state.tsx";
import { Field } from "../../../../../../_components/field.client.tsx";
import { FormMessage } from "../../../../../../_components/form-message.tsx";
import { List } from "../../../../../../_components/list.tsx";
import { Pagination } from "../../../../../../_components/pagination.tsx";
import { SectionCard } from "../../../../../../_components/section-card.tsx";
import { SubmitButton } from "../../../../../../_components/submit-button.client.tsx";
import { noticeOf, type PageQuery, textOf } from "../../../../../../_server/page-query.ts";
import { type RepoParams, repoHref, repoNameOf, repoPage } from "../../../../../../_server/repo-page.ts";
import { AccessRow } from "./access-row.tsx";
import { grantAction } from "./actions.ts";

export const metadata: Metadata = { title: "Access" };

const lists: Record<AccessRequestStatus, Readonly<{ label: string; empty: string }>> = {
  pending: { label: "Waiting", empty: "Nobody is waiting for an answer." },
  accepted: { label: "Let in", empty: "Nobody has been let in yet." },
  rejected: { label: "Rejected", empty: "Nobody has been rejected." },
};

const notices: Record<string, string> = {
  accepted: "Accepted. They can read the files now, and get a letter.",
  rejected: "Rejected. They get a letter.",
  pending: "The request waits for an answer again.",
  granted: "Done. They can read the files now, and get a letter.",
};

/** Who may read a gated repository, and who asks to. */
export default async function AccessPage({ params, searchParams }: Readonly<{ params: RepoParams; searchParams: PageQuery }>) {
  const [{ repo, person, mayManage }, query] = await Promise.all([repoPage(params), searchParams]);
  if (!mayManage || !person) notFound();
  const name = repoNameOf(repo);
  const status = accessRequestStatuses.find((one) => one === textOf(query.list)) ?? "pending";
  const [counts, page] = await Promise.all([
    countAccessRequests(repo),
    listAccessRequests(person, name, { status, page: Number(textOf(query.page)) }),
  ]);
  const path = repoHref(repo, "settings", "access");
  const notice = noticeOf(notices, query.notice);
  return (
    <div className="grid max-w-3xl gap-5">
      <div>
        <h2 className="text-lead">Who may read the files</h2>
        <p className="text-muted text-small">
          {repo.gated === "none"
            ? "There is no gate at present: whoever sees the repository reads its files. What was decided before is kept."
            : "Everybody sees the repository and its README. The files are for the people below, and for those who may see it anyway."}
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
      <div>
        <Card>
          {page.items.length === 0 ? (
            <EmptyState Icon={UserCheck} title={lists[status].empty}>
              {status === "pending" ? "Requests appear here, and you get a letter for each." : "You can let people in below."}
            </EmptyState>
          ) : (
            <List label={lists[status].label}>
              {page.items.map((request) => (
                <AccessRow key={request.user.id} repoName={name} request={request} isOpen={repo.gated !== "none"} />
              ))}
            </List>
          )}
        </Card>
        <Pagination label="requests" {...page} hrefOf={(at) => `${path}?list=${status}&page=${at}`} />
      </div>
      {repo.gated !== "none" && (
        <SectionCard title="Let somebody in" description="Whether they have asked or not. They get a letter.">
          <ActionForm action={grantAction.bind(null, name)} label="Let somebody in" className="grid max-w-reading gap-4">
            <Field name="user" label="Username" autoComplete="off" autoCapitalize="none" spellCheck={false} />
            <div>
              <SubmitButton variant="secondary">Let them in</SubmitButton>
            </div>
          </ActionForm>
        </SectionCard>
      )}
    </div>
  );
}
