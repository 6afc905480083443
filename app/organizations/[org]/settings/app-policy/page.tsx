import { AppWindow, BadgeCheck, SearchX } from "lucide-react";
import { redirect } from "next/navigation";
import { env } from "#core/env.ts";
import { type AppPolicy, appPolicies, readAppPolicy } from "#core/oauth/app-policy/app-policy.ts";
import {
  listOrganizationApps,
  type OrganizationApp,
  type OrganizationAppState,
  organizationAppStates,
} from "#core/oauth/app-policy/list-organization-apps.ts";
import { ActionForm, SubmitButton } from "../../../../_components/action-form.client.tsx";
import { AppLogo } from "../../../../_components/applications/app-logo.tsx";
import { ButtonLink } from "../../../../_components/button.tsx";
import { Chip } from "../../../../_components/chip.tsx";
import { ConfirmDestructive } from "../../../../_components/details-form.client.tsx";
import { Choices, Field } from "../../../../_components/fields.client.tsx";
import { PressGuard } from "../../../../_components/form-buttons.tsx";
import { EmptyState, ListRow, PagedList } from "../../../../_components/list.tsx";
import { policyChoices } from "../../../../_components/organization-wording.ts";
import { PageColumn, SectionCard } from "../../../../_components/page-layout.tsx";
import { RelativeTime } from "../../../../_components/relative-time.tsx";
import { Filter, SearchForm } from "../../../../_components/search-form.tsx";
import {
  type OrganizationParams,
  organizationPath,
  organizationTitle,
  requireOrganizationPage,
} from "../../../../_server/organization-page.ts";
import { hrefWith, noticeOf, type PageQuery, searchOf, textOf } from "../../../../_server/page-query.ts";
import { decideAppAction, setAppPolicyAction } from "../../../actions.ts";

type Props = Readonly<{ params: OrganizationParams; searchParams: PageQuery }>;

const notices: Record<string, string> = {
  policy: "Policy changed. It applies to every app from its next request.",
  approved: "App approved. Members can now give it access to the organization.",
  blocked: "App blocked. It can no longer access the organization.",
  reset: "Decision reset. The policy applies to the app again.",
};

const approvedForLater = "App approved. Members can give it access once the policy allows approved apps.";

const stateLabels: Record<OrganizationAppState, string> = {
  waiting: "Requested",
  approved: "Approved",
  blocked: "Blocked",
  undecided: "Undecided",
};

export const generateMetadata = organizationTitle("App policy");

export default async function AppPolicyPage({ params, searchParams }: Props) {
  const [{ org }, query] = await Promise.all([params, searchParams]);
  const { organization, person, isManager } = await requireOrganizationPage(org);
  const { name } = organization;
  if (!isManager) redirect(organizationPath(name));
  const search = searchOf(query.search);
  const state = organizationAppStates.find((each) => each === textOf(query.state));
  const [policy, apps] = await Promise.all([
    readAppPolicy(person, organization.id),
    listOrganizationApps(person, organization.id, { text: search, state, page: Number(textOf(query.page)) }),
  ]);
  const path = organizationPath(name, "settings/app-policy");
  const hrefOf = (page: number) => hrefWith(path, { search, state, page });
  // The total is unknown on a page after the last one.
  if (apps.items.length === 0 && apps.page > 1) redirect(hrefOf(1));
  const here = hrefOf(apps.page);
  return (
    <PageColumn
      title="App policy"
      description="Which apps can access the organization. This does not affect what apps can do elsewhere for members."
      notice={noticeOf(policy === "none" ? { ...notices, approved: approvedForLater } : notices, query.notice)}
    >
      <SectionCard title="Allowed apps">
        <ActionForm action={setAppPolicyAction.bind(null, name)} values={{ policy }} className="grid max-w-reading gap-5">
          <Choices
            legend="Allowed apps"
            isLegendHidden
            name="policy"
            options={appPolicies.map((value) => ({ value, ...policyChoices[value] }))}
          />
          <p className="text-muted text-small">
            Changes apply immediately. What members have allowed is kept: an app that you allow again regains its access.
          </p>
          <SubmitButton>Save policy</SubmitButton>
        </ActionForm>
      </SectionCard>
      <div className="grid grid-cols-1 gap-5">
        <SearchForm action={path} label="Name or client ID" value={search}>
          <Filter
            name="state"
            label="State"
            value={state}
            options={organizationAppStates.map((value) => ({ value, label: stateLabels[value] }))}
          />
        </SearchForm>
        <PagedList
          section={{
            title: "Apps",
            description: "Apps with access, requested apps, and apps with token exchange.",
          }}
          label="Apps"
          things="apps"
          list={apps}
          hrefOf={hrefOf}
          row={(app) => (
            <OrganizationAppRow key={app.clientId} app={app} policy={policy} organization={organization} returnTo={here} />
          )}
          empty={<NoApps path={path} isSearched={search !== "" || state !== undefined} />}
        />
      </div>
      <SectionCard
        title="Approval in advance"
        description="Approve an app before any member uses it. Ask the app's owner for its client ID."
      >
        <ActionForm action={decideAppAction.bind(null, name, "approved")} className="grid max-w-reading gap-5">
          <Field name="clientId" label="Client ID" isMono />
          <SubmitButton variant="secondary">Approve</SubmitButton>
        </ActionForm>
      </SectionCard>
    </PageColumn>
  );
}

function NoApps({ path, isSearched }: Readonly<{ path: string; isSearched: boolean }>) {
  if (isSearched) {
    return (
      <EmptyState Icon={SearchX} title="No apps match" action={<ButtonLink href={path}>Show all apps</ButtonLink>}>
        Enter part of a name, or a full client ID.
      </EmptyState>
    );
  }
  return (
    <EmptyState Icon={AppWindow} title="No apps yet">
      Apps appear here when a member signs in to them and selects this organization.
    </EmptyState>
  );
}

type OrganizationAppRowProps = Readonly<{
  app: OrganizationApp;
  policy: AppPolicy;
  organization: Readonly<{ name: string; fullName: string }>;
  returnTo: string;
}>;

function OrganizationAppRow({ app, policy, organization, returnTo }: OrganizationAppRowProps) {
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
          <code className="block wrap-anywhere">{clientId}</code>
          {membersSentence(memberCount)}
          {lastUsedAt && (
            <>
              {" · last used "}
              <RelativeTime at={lastUsedAt} />
            </>
          )}
          {requestCount > 0 && (
            <span className="block text-ink">
              Requested by {askedBy}
              {requestCount > 1 && ` and ${(requestCount - 1).toLocaleString("en")} more`}
            </span>
          )}
        </>
      }
      actions={!record?.isFirstParty && <Decisions app={app} organization={organization} returnTo={returnTo} />}
    />
  );
}

function Chips({
  app: { record, decision, isAdmitted, isBound, requestCount },
  policy,
}: Pick<OrganizationAppRowProps, "app" | "policy">) {
  return (
    <>
      {record?.isFirstParty && <Chip>Part of {env().BRAND_NAME}</Chip>}
      {record?.verifiedAt && (
        <Chip tone="good">
          <BadgeCheck className="size-3.5" aria-hidden="true" />
          Verified
        </Chip>
      )}
      {isBound && <Chip>Token exchange</Chip>}
      {requestCount > 0 && <Chip tone="warn">Requested</Chip>}
      {decision === "approved" && <Chip tone={isAdmitted ? "good" : "neutral"}>Approved</Chip>}
      {decision === "blocked" && <Chip tone="bad">Blocked</Chip>}
      {!isAdmitted && decision !== "blocked" && (
        <Chip tone="warn">{policy === "none" ? "Not allowed: no apps" : "Not allowed"}</Chip>
      )}
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
    <>
      {decision !== "approved" && record && (
        <ActionForm action={decideAppAction.bind(null, organization.name, "approved")} className="grid gap-2">
          {fields}
          <PressGuard>
            <SubmitButton size="small" variant="secondary">
              Approve<span className="sr-only"> {name}</span>
            </SubmitButton>
          </PressGuard>
        </ActionForm>
      )}
      {decision !== null && (
        <ActionForm action={decideAppAction.bind(null, organization.name, null)} className="grid gap-2">
          {fields}
          <SubmitButton size="small" variant="quiet">
            {decision === "blocked" ? "Unblock" : "Withdraw approval"}
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
          From its next request, the app cannot access the organization on behalf of any member. Its access elsewhere is not
          affected. You can unblock it at any time.
        </ConfirmDestructive>
      )}
    </>
  );
}

function membersSentence(count: number): string {
  if (count === 0) return "No member has given it access";
  return count === 1 ? "1 member has given it access" : `${count.toLocaleString("en")} members have given it access`;
}
