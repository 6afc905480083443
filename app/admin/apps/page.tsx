import { AppWindow, SearchX } from "lucide-react";
import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { isRecentlyAuthenticated } from "#core/access/is-recently-authenticated.ts";
import { type AppState, appStates, listAllApps } from "#core/oauth/apps/list-all-apps.ts";
import { ButtonLink } from "../../_components/button.tsx";
import { Card } from "../../_components/card.tsx";
import { EmptyState } from "../../_components/empty-state.tsx";
import { FormMessage } from "../../_components/form-message.tsx";
import { List } from "../../_components/list.tsx";
import { PageHeader } from "../../_components/page-header.tsx";
import { Pagination } from "../../_components/pagination.tsx";
import { ProveIdentity } from "../../_components/prove-identity.tsx";
import { SearchForm } from "../../_components/search-form.tsx";
import { Select } from "../../_components/select.client.tsx";
import { requireOperator } from "../../_server/operator-page.ts";
import { noticeOf, type PageQuery, searchOf, textOf } from "../../_server/page-query.ts";
import { AppRow } from "./app-row.tsx";
import { APPS_PATH, appsPath } from "./apps-path.ts";

export const metadata: Metadata = { title: "OAuth apps · Administration" };

/** What just happened, said once after a redirect. */
const notices: Record<string, string> = {
  verified: "The app is marked as verified. People see it where they are asked for their consent.",
  unverified: "The app is no longer marked as verified.",
  "privilege-granted": "The app may exchange tokens for its organization. Its administrators are told if they had asked.",
  "privilege-revoked": "The app may not exchange tokens any more, and all that it had exchanged have ended.",
  blocked: "The app is blocked. Nobody can sign in to it, and all its tokens have ended.",
  unblocked: "The app is let in again. People have to allow it anew.",
};

const stateLabels: Record<AppState, string> = {
  verified: "Verified",
  blocked: "Blocked",
  token_exchange: "May exchange tokens",
  asks_token_exchange: "Asks for token exchange",
  self_registered: "Registered by themselves",
};

/** Every OAuth app of the installation; whom people here may trust is the operator's word. */
export default async function AdminAppsPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const query = await searchParams;
  const search = searchOf(query.search);
  const state = appStates.find((each) => each === textOf(query.state));
  const operator = await requireOperator(APPS_PATH);
  const apps = await listAllApps(operator, { text: search, state, page: Number(textOf(query.page)) });
  const { items, page, pageSize, total } = apps;
  if (items.length === 0 && total > 0) redirect(appsPath({ search, state, page: Math.ceil(total / pageSize) }));
  const here = appsPath({ search, state, page });
  const isRecent = isRecentlyAuthenticated(operator);
  const notice = noticeOf(notices, query.notice);
  return (
    <>
      <PageHeader
        title="OAuth apps"
        description="Apps that people and organizations here have made, or that registered themselves."
      />
      <div className="grid gap-5">
        {notice && <FormMessage tone="good">{notice}</FormMessage>}
        <SearchForm action={APPS_PATH} label="Name, client ID or owner" value={search}>
          <div className="min-w-44">
            <Select
              name="state"
              label="State"
              defaultValue={state ?? ""}
              options={[{ value: "", label: "Any" }, ...appStates.map((value) => ({ value, label: stateLabels[value] }))]}
            />
          </div>
        </SearchForm>
        {!isRecent && items.length > 0 && (
          <ProveIdentity returnTo={here}>
            To verify or block an app or change its privileges, confirm that it is you.
          </ProveIdentity>
        )}
        <div>
          <Card>
            {total === 0 ? (
              <NoApps isSearched={search !== "" || state !== undefined} />
            ) : (
              <List label="OAuth apps">
                {items.map((app) => (
                  <AppRow key={app.id} app={app} isRecent={isRecent} returnTo={here} />
                ))}
              </List>
            )}
          </Card>
          <Pagination
            label="OAuth apps"
            page={page}
            pageSize={pageSize}
            total={total}
            hrefOf={(at) => appsPath({ search, state, page: at })}
          />
        </div>
      </div>
    </>
  );
}

function NoApps({ isSearched }: Readonly<{ isSearched: boolean }>) {
  if (isSearched) {
    return (
      <EmptyState Icon={SearchX} title="No app is like that" action={<ButtonLink href={APPS_PATH}>Show all apps</ButtonLink>}>
        A name is found by any part of it, a client ID only as a whole.
      </EmptyState>
    );
  }
  return (
    <EmptyState Icon={AppWindow} title="No apps yet" action={<ButtonLink href="/settings/applications/new">New app</ButtonLink>}>
      Apps that people make under Settings, OAuth apps, stand here.
    </EmptyState>
  );
}
