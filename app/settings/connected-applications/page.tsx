import { isScope } from "@keyhook/sdk";
import { BadgeCheck, Plug } from "lucide-react";
import type { Metadata } from "next";
import { listOrganizations } from "#core/accounts/organizations/find-organization.ts";
import { env } from "#core/env.ts";
import { type ConnectedApp, listConsents } from "#core/oauth/consents/list-consents.ts";
import { type ExchangedAccess, listTokensOfMember } from "#core/oauth/exchange/list-exchanges.ts";
import { type Delegated, listDelegated } from "#core/webhooks/delegated.ts";
import { AppLogo } from "../../_components/applications/app-logo.tsx";
import { Chip } from "../../_components/chip.tsx";
import { DelegatedList } from "../../_components/delegated-list.tsx";
import { ConfirmDestructive } from "../../_components/details-form.client.tsx";
import { EmptyState, List, ListPage, ListRow } from "../../_components/list.tsx";
import { SectionCard } from "../../_components/page-layout.tsx";
import { LastUsed, RelativeTime } from "../../_components/relative-time.tsx";
import { hrefWith, noticeOf, type PageQuery, textOf } from "../../_server/page-query.ts";
import { requireSession } from "../../_server/session.ts";
import { revokeAction } from "../actions.ts";
import { ChangeAccess, type Membership } from "./change-access.tsx";
import { CONNECTED_APPS_PATH } from "./connected-apps-path.ts";
import { GrantedOrganizations, GrantedScopes } from "./granted-access.tsx";

export const metadata: Metadata = { title: "Connected apps" };

const notices = {
  revoked: "Access revoked. The app must ask for permission again.",
  narrowed: "Access reduced. If the app used what you removed, it must ask you to sign in again.",
};

const APPS_MAX = 20;
/** Each app's form lists all organizations of the user (S137). */
const CHOICES_MAX = 2_000;

/** See S114. */
export default async function ConnectedAppsPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const query = await searchParams;
  const { userId } = await requireSession(CONNECTED_APPS_PATH);
  const [issued, memberships] = await Promise.all([listTokensOfMember(userId), listOrganizations(userId)]);
  const pageSize = Math.min(Math.max(Math.floor(CHOICES_MAX / Math.max(memberships.length, 1)), 1), APPS_MAX);
  const apps = await listConsents(userId, { page: Number(textOf(query.page)), pageSize });
  const delegated = await listDelegated(apps.items.map(({ consentId }) => consentId));
  return (
    <>
      <ListPage
        title="Connected apps"
        description={`Apps and websites that you signed in to with ${env().BRAND_NAME}. Revoked apps lose access immediately.`}
        notice={noticeOf(notices, query.notice)}
        label="Connected apps"
        things="connected apps"
        list={apps}
        hrefOf={(page) => hrefWith(CONNECTED_APPS_PATH, { page })}
        row={(app) => (
          <ConnectedAppRow
            key={app.consentId}
            app={app}
            page={apps.page}
            delegated={delegated.get(app.consentId)}
            memberships={memberships}
          />
        )}
        empty={
          <EmptyState Icon={Plug} title="No connected apps">
            Apps you sign in to with {env().BRAND_NAME} will appear here.
          </EmptyState>
        }
      />
      <IssuedSection apps={issued} />
    </>
  );
}

/** Lists access that the user was not asked about. */
function IssuedSection({ apps }: Readonly<{ apps: readonly ExchangedAccess[] }>) {
  if (apps.length === 0) return null;
  return (
    <div className="mt-6">
      <SectionCard
        title="Issued by your organizations"
        description="Apps of your organizations that act for you there without asking each member. Outside the organization, they can only read public content and gated repositories that you have access to. To stop this, ask an administrator or leave the organization."
        isFlush
      >
        <List label="Issued by your organizations">
          {apps.map((app) => (
            <ListRow
              key={`${app.clientId} ${app.organization.name}`}
              leading={<AppLogo app={app} />}
              title={<bdi className="min-w-0 break-words">{app.name}</bdi>}
              meta={
                <>
                  For {app.organization.fullName} ·{" "}
                  {app.tokenCount === 1 ? "1 token" : `${app.tokenCount.toLocaleString("en")} tokens, the latest`} issued{" "}
                  <RelativeTime at={app.lastIssuedAt} /> · access expires <RelativeTime at={app.endsAt} />
                </>
              }
            >
              <div className="mt-3 text-small sm:ml-11">
                <GrantedScopes scopes={app.scopes.filter(isScope)} />
              </div>
            </ListRow>
          ))}
        </List>
      </SectionCard>
    </div>
  );
}

type ConnectedAppRowProps = Readonly<{
  app: ConnectedApp;
  page: number;
  delegated: Delegated | undefined;
  memberships: readonly Membership[];
}>;

function ConnectedAppRow({ app, page, delegated, memberships }: ConnectedAppRowProps) {
  return (
    <ListRow
      leading={<AppLogo app={app} />}
      title={
        <>
          <bdi className="min-w-0 break-words">{app.name}</bdi>
          {(app.isFirstParty || app.isVerified) && (
            <Chip tone="good">
              <BadgeCheck className="size-3.5" aria-hidden="true" />
              {app.isFirstParty ? "Part of" : "Verified by"} {env().BRAND_NAME}
            </Chip>
          )}
        </>
      }
      meta={
        <>
          {app.documentHost !== null && <DocumentHost clientId={app.clientId} host={app.documentHost} />}
          Authorized <RelativeTime at={app.firstUsedAt} /> · <LastUsed at={app.lastUsedAt} />
          <Homepage url={app.homepageUrl} documentHost={app.documentHost} />
        </>
      }
      actions={
        <>
          <ChangeAccess
            // A new key closes the form after a change.
            key={[...app.scopes, app.isAllOrgs, ...app.organizations.map(({ id }) => id)].join()}
            app={app}
            page={page}
            memberships={memberships}
          />
          <ConfirmDestructive
            action={revokeAction}
            trigger="Revoke"
            title={
              <>
                Revoke the access of <bdi>{app.name}</bdi>?
              </>
            }
            confirm={`Revoke ${app.name}`}
            size="small"
          >
            <input type="hidden" name="consentId" value={app.consentId} />
            <input type="hidden" name="page" value={page} />
            The app loses access immediately. Data that it already copied is not deleted.
            <DelegatedList delegated={delegated} of="app" />
          </ConfirmDestructive>
        </>
      }
    >
      <dl className="mt-3 grid gap-x-6 gap-y-3 text-small sm:ml-11 sm:grid-cols-2">
        <div>
          <dt className="mb-1 text-muted">It can</dt>
          <dd>
            <GrantedScopes scopes={app.scopes} />
          </dd>
        </div>
        <div>
          <dt className="mb-1 text-muted">In organizations</dt>
          <dd>
            <GrantedOrganizations
              organizations={app.organizations}
              closedOrganizations={app.closedOrganizations}
              isAllOrgs={app.isAllOrgs}
            />
          </dd>
        </div>
        {app.resources.length > 0 && (
          <div>
            <dt className="mb-1 text-muted">On your behalf at</dt>
            <dd className="grid gap-1.5">
              {app.resources.map(({ identifier, name }) => (
                <bdi key={identifier} className="wrap-anywhere" title={identifier}>
                  {name}
                </bdi>
              ))}
            </dd>
          </div>
        )}
      </dl>
    </ListRow>
  );
}

/** The host is the only known fact about an unregistered app. */
function DocumentHost({ clientId, host }: Readonly<{ clientId: string; host: string }>) {
  return (
    <span className="block" title={clientId}>
      From <bdi className="wrap-anywhere text-ink">{host}</bdi>
    </span>
  );
}

function Homepage({ url, documentHost }: Readonly<{ url: string | null; documentHost: string | null }>) {
  const host = url && URL.parse(url)?.host;
  if (!host || host === documentHost) return null;
  return (
    <>
      {" · "}
      <a href={url} target="_blank" rel="noopener noreferrer nofollow" className="link wrap-anywhere">
        {host}
      </a>
    </>
  );
}
