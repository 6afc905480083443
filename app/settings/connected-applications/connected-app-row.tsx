import { BadgeCheck } from "lucide-react";
import { env } from "#core/env.ts";
import type { ConnectedApp } from "#core/oauth/consents/list-consents.ts";
import type { Delegated } from "#core/webhooks/delegated.ts";
import { AppLogo } from "../../_components/applications/app-logo.tsx";
import { Chip } from "../../_components/chip.tsx";
import { ConfirmDestructive } from "../../_components/confirm-destructive.client.tsx";
import { DelegatedList } from "../../_components/delegated-list.tsx";
import { ListRow } from "../../_components/list.tsx";
import { RelativeTime } from "../../_components/relative-time.tsx";
import { revokeAction } from "./actions.ts";
import { GrantedOrganizations } from "./granted-organizations.tsx";
import { GrantedScopes } from "./granted-scopes.tsx";

export type ConnectedAppRowProps = Readonly<{
  app: ConnectedApp;
  /** Of the list, to come back to. */
  page: number;
  /** What it created, and what stops with its access. */
  delegated: Delegated | undefined;
}>;

export function ConnectedAppRow({ app, page, delegated }: ConnectedAppRowProps) {
  return (
    <ListRow
      leading={<AppLogo app={app} />}
      title={
        <>
          <bdi className="min-w-0 break-words">{app.name}</bdi>
          {(app.isFirstParty || app.isVerified) && (
            <Chip tone="good">
              <BadgeCheck className="size-3.5" aria-hidden="true" />
              {app.isFirstParty ? "Comes with" : "Verified by"} {env().BRAND_NAME}
            </Chip>
          )}
        </>
      }
      meta={
        <>
          {app.documentHost !== null && <DocumentHost clientId={app.clientId} host={app.documentHost} />}
          Allowed <RelativeTime at={app.firstUsedAt} /> ·{" "}
          {app.lastUsedAt ? (
            <>
              last used <RelativeTime at={app.lastUsedAt} />
            </>
          ) : (
            "not used yet"
          )}
          <Homepage url={app.homepageUrl} documentHost={app.documentHost} />
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
            <dt className="mb-1 text-muted">In your name at</dt>
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
      <div className="mt-3 sm:ml-11">
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
          It is signed out of your account at once, on every device. What it has copied already, it keeps.
          <DelegatedList delegated={delegated} of="app" />
        </ConfirmDestructive>
      </div>
    </ListRow>
  );
}

/** What is known of an app that nobody registered here: the website that it comes from. */
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
