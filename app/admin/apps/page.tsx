import { AppWindow, BadgeCheck, SearchX } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import { Fragment } from "react";
import { isRecentlyAuthenticated } from "#core/access/may.ts";
import { env } from "#core/env.ts";
import { TOKEN_EXCHANGE } from "#core/oauth/apps/app-privilege.ts";
import { looksOf } from "#core/oauth/apps/change-app.ts";
import { type AppState, appStates, listAllApps, type OwnedApp } from "#core/oauth/apps/list-apps.ts";
import { ActionButton } from "../../_components/action-form.client.tsx";
import { countOfUsers } from "../../_components/applications/app-list-page.tsx";
import { AppLogo } from "../../_components/applications/app-logo.tsx";
import { ButtonLink } from "../../_components/button.tsx";
import { Chip } from "../../_components/chip.tsx";
import { ConfirmDestructive } from "../../_components/details-form.client.tsx";
import { PressGuard } from "../../_components/form-buttons.tsx";
import { EmptyState, ListPage, ListRow } from "../../_components/list.tsx";
import { ProveIdentity } from "../../_components/prove-identity.tsx";
import { RelativeTime } from "../../_components/relative-time.tsx";
import { Filter, SearchForm } from "../../_components/search-form.tsx";
import { hrefWith, noticeOf, type PageQuery, searchOf, textOf } from "../../_server/page-query.ts";
import { requireOperator } from "../../_server/session.ts";
import { blockAction, privilegeAction, unblockAction, verifyAction } from "../actions.ts";
import { APPS_PATH } from "../paths.ts";

export const metadata: Metadata = { title: "OAuth apps · Administration" };

const notices: Record<string, string> = {
  verified: "App verified. Users see this on the consent page.",
  unverified: "Verification removed.",
  "privilege-granted": "Token exchange allowed.",
  "privilege-revoked": "Token exchange revoked, with all exchanged tokens.",
  blocked: "App blocked. Nobody can sign in to it, and all its tokens are revoked.",
  unblocked: "App unblocked. Users must authorize it again.",
};

const stateLabels: Record<AppState, string> = {
  verified: "Verified",
  blocked: "Blocked",
  token_exchange: "Can exchange tokens",
  asks_token_exchange: "Token exchange requested",
  self_registered: "Registered themselves",
};

export default async function AdminAppsPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const query = await searchParams;
  const search = searchOf(query.search);
  const state = appStates.find((each) => each === textOf(query.state));
  const operator = await requireOperator(APPS_PATH);
  const apps = await listAllApps(operator, { text: search, state, page: Number(textOf(query.page)) });
  const hrefOf = (page: number) => hrefWith(APPS_PATH, { search, state, page });
  const here = hrefOf(apps.page);
  const isRecent = isRecentlyAuthenticated(operator);
  const review = textOf(query.review);
  return (
    <ListPage
      title="OAuth apps"
      description="Apps that users and organizations created, that registered themselves, or that come with the service."
      notice={noticeOf(notices, query.notice)}
      label="OAuth apps"
      list={apps}
      hrefOf={hrefOf}
      row={(app) => <AppRow key={app.id} app={app} isReviewed={app.id === review} isRecent={isRecent} returnTo={here} />}
      empty={<NoApps isSearched={search !== "" || state !== undefined} />}
    >
      <SearchForm action={APPS_PATH} label="Name, client ID or owner" value={search}>
        <Filter
          name="state"
          label="State"
          value={state}
          options={appStates.map((value) => ({ value, label: stateLabels[value] }))}
        />
      </SearchForm>
      {!isRecent && apps.items.length > 0 && (
        <ProveIdentity returnTo={here}>
          Confirm your identity to verify or block an app, or to change its privileges.
        </ProveIdentity>
      )}
    </ListPage>
  );
}

function NoApps({ isSearched }: Readonly<{ isSearched: boolean }>) {
  if (isSearched) {
    return (
      <EmptyState Icon={SearchX} title="No apps match" action={<ButtonLink href={APPS_PATH}>Show all apps</ButtonLink>}>
        Enter part of a name, a full client ID, or an owner.
      </EmptyState>
    );
  }
  return (
    <EmptyState Icon={AppWindow} title="No apps yet" action={<ButtonLink href="/settings/applications/new">New app</ButtonLink>}>
      Apps that users create in their settings appear here.
    </EmptyState>
  );
}

type AppRowProps = Readonly<{ app: OwnedApp; isReviewed: boolean; isRecent: boolean; returnTo: string }>;

function AppRow({ app, isReviewed, isRecent, returnTo }: AppRowProps) {
  return (
    <ListRow
      leading={<AppLogo app={app} />}
      title={
        <>
          <bdi className="wrap-anywhere min-w-0">{app.name}</bdi>
          {app.isFirstParty && <Chip>Part of {env().BRAND_NAME}</Chip>}
          {app.registrationTokenHash !== null && <Chip>Registered itself</Chip>}
          {app.verifiedAt && (
            <Chip tone="good">
              <BadgeCheck className="size-3.5" aria-hidden="true" />
              Verified
            </Chip>
          )}
          {app.blockedAt && <Chip tone="bad">Blocked</Chip>}
          {app.privileges.includes(TOKEN_EXCHANGE) && <Chip tone="warn">Exchanges tokens</Chip>}
          {app.privilegeRequestedAt && <Chip tone="warn">Token exchange requested</Chip>}
        </>
      }
      meta={
        <>
          <code className="block wrap-anywhere">{app.clientId}</code>
          {countOfUsers(app.userCount)}
          {" · "}
          {app.owner && (
            <>
              <Link prefetch={false} href={`/${app.owner.handle}`} className="link">
                {app.owner.handle}
              </Link>
              {" · "}
            </>
          )}
          {app.boundTo && (
            <>
              bound to{" "}
              <Link prefetch={false} href={`/${app.boundTo}`} className="link">
                {app.boundTo}
              </Link>
              {" · "}
            </>
          )}
          created <RelativeTime at={app.createdAt} />
          {app.privilegeRequestedAt && (
            <>
              {" · requested token exchange "}
              <RelativeTime at={app.privilegeRequestedAt} />
            </>
          )}
          {app.blockedAt && (
            <>
              {" · blocked "}
              <RelativeTime at={app.blockedAt} />
            </>
          )}
        </>
      }
      actions={
        isRecent && (
          <>
            <Trust app={app} isReviewed={isReviewed} returnTo={returnTo} />
            {!app.blockedAt && (
              <>
                <Privilege app={app} returnTo={returnTo} />
                <Block app={app} returnTo={returnTo} />
              </>
            )}
          </>
        )
      }
    >
      {isReviewed && <Looks app={app} />}
    </ListRow>
  );
}

/** “Verified” means these values, and the name and the logo, which the title shows. */
function Looks({ app }: Readonly<{ app: OwnedApp }>) {
  const { homepageUrl, redirectUris, termsUrl, policyUrl, isDeviceFlowAllowed } = looksOf(app);
  const values = {
    Homepage: [homepageUrl],
    "Redirect URIs": redirectUris,
    Terms: [termsUrl],
    "Privacy policy": [policyUrl],
    "Device flow": [isDeviceFlowAllowed ? "allowed" : null],
  };
  return (
    <dl className="mt-2 grid gap-x-3 gap-y-1 text-small sm:grid-cols-[max-content_1fr]">
      {Object.entries(values).map(([label, texts]) => (
        <Fragment key={label}>
          <dt className="text-muted">{label}</dt>
          <dd className="wrap-anywhere min-w-0 whitespace-pre-line">{texts.filter(Boolean).join("\n") || "none"}</dd>
        </Fragment>
      ))}
    </dl>
  );
}

type ActionProps = Pick<AppRowProps, "app" | "returnTo">;

/** Apps that come with the service need no verification. */
function Trust({ app, isReviewed, returnTo }: Omit<AppRowProps, "isRecent">) {
  const { id, name, clientId, isFirstParty, verifiedAt, blockedAt, updatedAt } = app;
  if (isFirstParty && !blockedAt) return null;
  if (!blockedAt && !verifiedAt && !isReviewed) {
    return (
      <ButtonLink href={hrefWith(APPS_PATH, { search: clientId, review: id })}>
        Review
        <span className="sr-only"> {name}</span>
      </ButtonLink>
    );
  }
  const [action, label] = blockedAt
    ? [unblockAction.bind(null, id), "Unblock"]
    : [
        verifyAction.bind(null, id, !verifiedAt, updatedAt.toISOString()),
        verifiedAt ? "Remove verification" : "Mark as verified",
      ];
  return (
    <PressGuard>
      <ActionButton action={action} fields={{ returnTo }}>
        {label}
        <span className="sr-only"> {name}</span>
      </ActionButton>
    </PressGuard>
  );
}

/** Token exchange lets the holder of the app's secret act for every member of the organization. */
function Privilege({ app: { id, name, boundOrgId, boundTo, privileges }, returnTo }: ActionProps) {
  if (!boundTo) return null;
  const isGranted = privileges.includes(TOKEN_EXCHANGE);
  return (
    <ConfirmDestructive
      action={privilegeAction.bind(null, id, !isGranted, boundOrgId)}
      trigger={isGranted ? "Revoke token exchange" : "Allow token exchange"}
      title={
        <>
          {isGranted ? "Revoke token exchange for" : "Allow token exchange for"} <bdi>{name}</bdi>?
        </>
      }
      confirm={isGranted ? `Revoke it for ${name}` : `Allow ${name}`}
      size="small"
    >
      <input type="hidden" name="returnTo" value={returnTo} />
      {isGranted
        ? `The app can no longer get tokens for members of ${boundTo}, and its existing ones are revoked immediately.`
        : `With its secret, the app can get a token for any member of ${boundTo} by e-mail address, without asking them. The tokens act only within ${boundTo}. Outside it, they can only read public content and gated repositories that the member has access to. Every exchange is recorded in the audit log of ${boundTo}.`}
    </ConfirmDestructive>
  );
}

function Block({ app: { id, name, owner, userCount }, returnTo }: ActionProps) {
  return (
    <ConfirmDestructive
      action={blockAction.bind(null, id)}
      trigger="Block"
      title={
        <>
          Block <bdi>{name}</bdi>?
        </>
      }
      confirm={`Block ${name}`}
      size="small"
    >
      <input type="hidden" name="returnTo" value={returnTo} />
      Nobody can sign in to it anymore{endedFor(userCount)}. {owner && "Its owner sees that it is blocked. "}After it is
      unblocked, all users must authorize it again.
    </ConfirmDestructive>
  );
}

function endedFor(people: number): string {
  if (people === 0) return "";
  return `, and the access that ${people === 1 ? "1 person has" : `${people.toLocaleString("en")} people have`} given it is revoked immediately`;
}
