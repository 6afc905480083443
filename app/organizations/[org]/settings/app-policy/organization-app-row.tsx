import { BadgeCheck } from "lucide-react";
import { env } from "#core/env.ts";
import type { AppPolicy } from "#core/oauth/app-policy/app-policies.ts";
import type { OrganizationApp } from "#core/oauth/app-policy/list-organization-apps.ts";
import { ActionForm } from "../../../../_components/action-form.client.tsx";
import { AppLogo } from "../../../../_components/applications/app-logo.tsx";
import { Chip } from "../../../../_components/chip.tsx";
import { ConfirmDestructive } from "../../../../_components/confirm-destructive.client.tsx";
import { ListRow } from "../../../../_components/list.tsx";
import { RelativeTime } from "../../../../_components/relative-time.tsx";
import { SubmitButton } from "../../../../_components/submit-button.client.tsx";
import { decideAppAction } from "./actions.ts";

export type OrganizationAppRowProps = Readonly<{
  app: OrganizationApp;
  policy: AppPolicy;
  organization: Readonly<{ name: string; fullName: string }>;
  /** The list as it stands. */
  returnTo: string;
}>;

export function OrganizationAppRow({ app, policy, organization, returnTo }: OrganizationAppRowProps) {
  const { clientId, name, record, memberCount, lastUsedAt, requestCount, askedBy } = app;
  return (
    <ListRow
      leading={<AppLogo app={{ name, logoId: record?.logoId ?? null }} />}
      title={
        <>
          <bdi className="wrap-anywhere min-w-0">{name}</bdi>
          <Chips app={app} policy={policy} />
        </>
      }
      meta={
        <>
          <code className="block break-all">{clientId}</code>
          {membersSentence(memberCount)}
          {lastUsedAt && (
            <>
              {" · last used "}
              <RelativeTime at={lastUsedAt} />
            </>
          )}
          {requestCount > 0 && (
            <span className="block text-ink">
              {askedBy} {requestCount > 1 && `and ${(requestCount - 1).toLocaleString("en")} more `}
              {requestCount > 1 ? "ask" : "asks"} for it
            </span>
          )}
        </>
      }
    >
      {record?.isFirstParty ? null : <Decisions app={app} organization={organization} returnTo={returnTo} />}
    </ListRow>
  );
}

function Chips({
  app: { record, decision, isAdmitted, isBound, requestCount },
  policy,
}: Pick<OrganizationAppRowProps, "app" | "policy">) {
  return (
    <>
      {record?.isFirstParty && <Chip>Comes with {env().BRAND_NAME}</Chip>}
      {record?.verifiedAt && (
        <Chip tone="good">
          <BadgeCheck className="size-3.5" aria-hidden="true" />
          Verified
        </Chip>
      )}
      {isBound && <Chip>Token exchange</Chip>}
      {requestCount > 0 && <Chip tone="warn">Asked for</Chip>}
      {decision === "approved" && <Chip tone={isAdmitted ? "good" : "neutral"}>Approved</Chip>}
      {decision === "blocked" && <Chip tone="bad">Blocked</Chip>}
      {!isAdmitted && decision !== "blocked" && <Chip tone="warn">{policy === "none" ? "Kept out: no apps" : "Kept out"}</Chip>}
      {!record && <Chip>Deleted</Chip>}
    </>
  );
}

function Decisions({
  app: { clientId, name, decision, record },
  organization,
  returnTo,
}: Omit<OrganizationAppRowProps, "policy">) {
  const fields = (
    <>
      <input type="hidden" name="clientId" value={clientId} />
      <input type="hidden" name="returnTo" value={returnTo} />
    </>
  );
  return (
    <div className="mt-3 flex flex-wrap items-start gap-2 sm:ml-11">
      {decision !== "approved" && record && (
        <ActionForm action={decideAppAction.bind(null, organization.name, "approved")} className="grid gap-2">
          {fields}
          <SubmitButton size="small" variant="secondary">
            Approve<span className="sr-only"> {name}</span>
          </SubmitButton>
        </ActionForm>
      )}
      {decision !== null && (
        <ActionForm action={decideAppAction.bind(null, organization.name, null)} className="grid gap-2">
          {fields}
          <SubmitButton size="small" variant="quiet">
            {decision === "blocked" ? "Unblock" : "Take approval back"}
            <span className="sr-only"> {name}</span>
          </SubmitButton>
        </ActionForm>
      )}
      {decision !== "blocked" && record && (
        <ConfirmDestructive
          action={decideAppAction.bind(null, organization.name, "blocked")}
          trigger="Block"
          title={
            <>
              Block <bdi>{name}</bdi> in <bdi>{organization.fullName}</bdi>?
            </>
          }
          confirm={`Block ${name}`}
          size="small"
          isQuiet
        >
          {fields}
          From its next request it reaches nothing of the organization, whoever let it in. What it may do elsewhere for them
          stays. You can unblock it at any time.
        </ConfirmDestructive>
      )}
    </div>
  );
}

function membersSentence(count: number): string {
  if (count === 0) return "No member has let it in";
  return count === 1 ? "1 member has let it in" : `${count.toLocaleString("en")} members have let it in`;
}
