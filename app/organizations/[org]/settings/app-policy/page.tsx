import { AppWindow, SearchX } from "lucide-react";
import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { appPolicies } from "#core/oauth/app-policy/app-policies.ts";
import {
  listOrganizationApps,
  type OrganizationAppState,
  organizationAppStates,
} from "#core/oauth/app-policy/list-organization-apps.ts";
import { readAppPolicy } from "#core/oauth/app-policy/set-app-policy.ts";
import { ActionForm } from "../../../../_components/action-form.client.tsx";
import { policyChoices } from "../../../../_components/app-policy-sentences.ts";
import { ButtonLink } from "../../../../_components/button.tsx";
import { ChoiceRow } from "../../../../_components/choice-row.client.tsx";
import { EmptyState } from "../../../../_components/empty-state.tsx";
import { Field } from "../../../../_components/field.client.tsx";
import { FormMessage } from "../../../../_components/form-message.tsx";
import { List } from "../../../../_components/list.tsx";
import { PageHeader } from "../../../../_components/page-header.tsx";
import { Pagination } from "../../../../_components/pagination.tsx";
import { SearchForm } from "../../../../_components/search-form.tsx";
import { SectionCard } from "../../../../_components/section-card.tsx";
import { Select } from "../../../../_components/select.client.tsx";
import { SubmitButton } from "../../../../_components/submit-button.client.tsx";
import { type OrganizationParams, organizationPath, requireOrganizationPage } from "../../../../_server/organization-page.ts";
import { noticeOf, type PageQuery, searchOf, textOf } from "../../../../_server/page-query.ts";
import { decideAppAction, setAppPolicyAction } from "./actions.ts";
import { appPolicyPath } from "./app-policy-path.ts";
import { OrganizationAppRow } from "./organization-app-row.tsx";

type Props = Readonly<{ params: OrganizationParams; searchParams: PageQuery }>;

/** What just happened, said once after a redirect. */
const notices: Record<string, string> = {
  policy: "The policy is changed. It holds for every app from its next request.",
  approved: "The app is approved. Who asked for it is told by e-mail.",
  blocked: "The app is blocked here. It reaches nothing of the organization from now on.",
  reset: "The decision is taken back. The policy decides about the app again.",
};

const stateLabels: Record<OrganizationAppState, string> = {
  waiting: "Asked for",
  approved: "Approved",
  blocked: "Blocked",
  undecided: "Nothing decided",
};

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { organization } = await requireOrganizationPage((await params).org);
  return { title: `App policy · ${organization.fullName}` };
}

/** Which apps members may let in; what they let in, and the word about each. */
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
  const { items, page, pageSize, total } = apps;
  // Past the end there are no rows to count; the first page says whether there are any.
  if (items.length === 0 && page > 1) redirect(appPolicyPath(name, { search, state }));
  const here = appPolicyPath(name, { search, state, page });
  const notice = noticeOf(notices, query.notice);
  return (
    <>
      <PageHeader
        title="App policy"
        description="Which apps reach what is the organization's. What an app may do elsewhere for a member stays as it is."
      />
      <div className="grid grid-cols-1 gap-5">
        {notice && <FormMessage tone="good">{notice}</FormMessage>}
        <SectionCard title="Let in">
          <ActionForm action={setAppPolicyAction.bind(null, name)} values={{ policy }} className="grid max-w-reading gap-5">
            <fieldset className="grid gap-2">
              <legend className="sr-only">Which apps are let in</legend>
              {appPolicies.map((each) => (
                <ChoiceRow
                  key={each}
                  type="radio"
                  name="policy"
                  value={each}
                  isBoxed
                  label={policyChoices[each].label}
                  hint={policyChoices[each].hint}
                />
              ))}
            </fieldset>
            <p className="text-muted text-small">
              A change holds at once. No sign-in is undone: an app that is let in again goes on where it was.
            </p>
            <div>
              <SubmitButton>Save policy</SubmitButton>
            </div>
          </ActionForm>
        </SectionCard>
        <div className="grid gap-3">
          <SearchForm action={organizationPath(name, "settings/app-policy")} label="Name or client ID" value={search}>
            <div className="min-w-44">
              <Select
                name="state"
                label="State"
                defaultValue={state ?? ""}
                options={[
                  { value: "", label: "Any" },
                  ...organizationAppStates.map((value) => ({ value, label: stateLabels[value] })),
                ]}
              />
            </div>
          </SearchForm>
          <SectionCard
            title="Apps"
            description="What members let into the organization, what they ask for, and what acts for it."
            isFlush
          >
            {items.length === 0 ? (
              <NoApps name={name} isSearched={search !== "" || state !== undefined} />
            ) : (
              <List>
                {items.map((app) => (
                  <OrganizationAppRow key={app.clientId} app={app} policy={policy} organization={organization} returnTo={here} />
                ))}
              </List>
            )}
          </SectionCard>
          <Pagination
            label="apps"
            page={page}
            pageSize={pageSize}
            total={total}
            hrefOf={(at) => appPolicyPath(name, { search, state, page: at })}
          />
        </div>
        <SectionCard title="Approve an app ahead" description="Before any member meets it. Its owner knows its client ID.">
          <ActionForm action={decideAppAction.bind(null, name, "approved")} className="grid max-w-reading gap-5">
            <Field name="clientId" label="Client ID" autoComplete="off" autoCapitalize="none" spellCheck={false} isMono />
            <div>
              <SubmitButton variant="secondary">Approve</SubmitButton>
            </div>
          </ActionForm>
        </SectionCard>
      </div>
    </>
  );
}

function NoApps({ name, isSearched }: Readonly<{ name: string; isSearched: boolean }>) {
  if (isSearched) {
    return (
      <EmptyState
        Icon={SearchX}
        title="No app is like that"
        action={<ButtonLink href={appPolicyPath(name)}>Show all apps</ButtonLink>}
      >
        A name is found by any part of it, a client ID only as a whole.
      </EmptyState>
    );
  }
  return (
    <EmptyState Icon={AppWindow} title="No app has been let in">
      When a member signs in to an app and ticks this organization, the app stands here.
    </EmptyState>
  );
}
