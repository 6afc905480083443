import type { Metadata } from "next";
import { notFound, redirect } from "next/navigation";
import type { ReactNode } from "react";
import type { Person } from "#core/access/actor.ts";
import { isRecentlyAuthenticated } from "#core/access/may.ts";
import { findUser } from "#core/accounts/users/find-user.ts";
import { appUsage } from "#core/oauth/apps/app-usage.ts";
import { listBindable } from "#core/oauth/apps/bound-apps.ts";
import type { AppDetails } from "#core/oauth/apps/get-app.ts";
import { listRecentExchanges } from "#core/oauth/exchange/list-exchanges.ts";
import { appHome, findManagedApp } from "../../_server/applications/find-app.ts";
import type { OwnerPageProps } from "../../_server/owner-page.ts";
import { noticeOf, textOf } from "../../_server/page-query.ts";
import { appListPath, appPath, type OwnerName } from "../../_server/paths.ts";
import { Chip } from "../chip.tsx";
import { Card, FormMessage, PageColumn } from "../page-layout.tsx";
import { ProveIdentity } from "../prove-identity.tsx";
import { RelativeTime } from "../relative-time.tsx";
import { currentPart, LinkTabs } from "../tabs.tsx";
import { countOfUsers } from "./app-list-page.tsx";
import { AppLogo } from "./app-logo.tsx";
import { ConnectSection } from "./connect-section.tsx";
import { CredentialsSection } from "./credentials-section.tsx";
import { ExchangeSection } from "./exchange-section.tsx";
import { SecuritySection } from "./security-section.tsx";
import {
  AboutSection,
  DeleteSection,
  PermissionsSection,
  RedirectsSection,
  ScopesSection,
  TransferSection,
} from "./settings-sections.tsx";
import { UsageSection } from "./usage-section.tsx";

const notices: Record<string, string> = {
  created: "The app is ready. Its client ID and the URLs that your code needs are below.",
  "secret-deleted": "Secret deleted. The app is now a public app.",
  "keys-set": "The app now authenticates with its keys. If it has a redirect URI, the example under Connect shows how.",
  transferred: "App transferred. If it has a secret that others know, rotate the secret.",
  bound: "App bound. The remaining requirements for token exchange are listed below.",
  unbound: "The app is no longer bound to an organization, and all its exchanged tokens are revoked.",
  "privilege-asked": "Request sent. The operator decides whether to grant the privilege.",
  "keys-deleted": "Keys deleted. The app is now a public app.",
};

const ownerParts = { security: "Security", danger: "Danger" };

function ownedBy({ organization, ownerUsername, isOwner }: AppDetails): string {
  if (organization) return `Owned by ${organization.fullName}`;
  return isOwner ? "Owned by you" : `Owned by ${ownerUsername ?? "nobody"}`;
}

type Props = OwnerPageProps<{ appId: string }>;

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { details } = await findManagedApp((await params).appId);
  return { title: details.app.name };
}

export async function AppPage({ params, searchParams }: Props) {
  const [{ org = null, appId }, query] = await Promise.all([params, searchParams]);
  const { person, details } = await findManagedApp(appId);
  const { app, isConfidential, userCount, isOwner } = details;
  const home = appHome(details);
  requireCanonicalUrl(org, details);
  const page = appPath(home, app.id);
  const isRecent = isRecentlyAuthenticated(person);
  const parts = { overview: "Overview", connect: "Connect", permissions: "Permissions", ...(isOwner && ownerParts) };
  const part = currentPart(parts, textOf(query.tab));
  const banner = !isRecent && (
    <Card className="px-4 py-3 sm:px-5">
      <ProveIdentity returnTo={`${page}?tab=${part}`}>Confirm your identity to edit sensitive settings.</ProveIdentity>
    </Card>
  );
  return (
    <PageColumn
      trail={[{ href: appListPath(home), label: "OAuth apps" }]}
      title={
        <span className="flex items-center gap-3">
          <AppLogo app={app} size="lg" />
          <span className="min-w-0 break-words">{app.name}</span>
        </span>
      }
      status={
        <>
          <Chip>{isConfidential ? "Confidential" : "Public"}</Chip>
          {app.boundOrgId && <Chip>Bound</Chip>}
          {app.verifiedAt && <Chip tone="good">Verified</Chip>}
          {app.blockedAt && <Chip tone="bad">Blocked</Chip>}
        </>
      }
      description={
        <>
          {ownedBy(details)} · {countOfUsers(userCount)} · created <RelativeTime at={app.createdAt} />
        </>
      }
      notice={noticeOf(notices, query.notice)}
    >
      {app.blockedAt && (
        <FormMessage tone="bad">
          An operator has blocked this app: nobody can sign in to it. Ask the operator for the reason.
        </FormMessage>
      )}
      <LinkTabs label="App" parts={parts} path={page} current={part} />
      {part !== "overview" && part !== "permissions" && banner}
      {part === "overview" && <Overview details={details} person={person} />}
      {part === "connect" && (
        <>
          <CredentialsSection details={details} isRecent={isRecent} page={page} />
          {isOwner && <RedirectsSection app={app} isRecent={isRecent} />}
          {isOwner && <ConnectSection details={details} />}
        </>
      )}
      {part === "permissions" && <Permissions {...{ details, person, page, banner }} />}
      {part === "security" && <SecuritySection details={details} isRecent={isRecent} />}
      {part === "danger" && (
        <>
          <TransferSection details={details} person={person} isRecent={isRecent} />
          <DeleteSection details={details} isRecent={isRecent} />
        </>
      )}
    </PageColumn>
  );
}

type PartProps = Readonly<{ details: AppDetails; person: Person }>;

async function Overview({ details: { app, isOwner }, person }: PartProps) {
  return (
    <>
      <UsageSection usage={await appUsage(person, app.id)} />
      {isOwner && <AboutSection app={app} />}
    </>
  );
}

async function Permissions({ details, person, page, banner }: PartProps & Readonly<{ page: string; banner: ReactNode }>) {
  const { app, isOwner, mayManageAccess } = details;
  const [exchanges, bindable, user] = await Promise.all([
    mayManageAccess ? listRecentExchanges(person, app) : [],
    listBindable(person, app),
    findUser(person.userId),
  ]);
  return (
    <>
      {(details.boundOrganization || bindable.length > 0) && banner}
      {isOwner ? <PermissionsSection details={details} /> : mayManageAccess && <ScopesSection app={app} />}
      <ExchangeSection
        isRecent={isRecentlyAuthenticated(person)}
        email={user?.email ?? ""}
        {...{ details, page, bindable, exchanges }}
      />
    </>
  );
}

/** Redirects from the user's pages if the app belongs to an organization. Under a wrong organization, the page is a 404. */
function requireCanonicalUrl(org: OwnerName, details: AppDetails): void {
  if (org === null) {
    const home = appHome(details);
    if (home) redirect(appPath(home, details.app.id));
    return;
  }
  const names = [details.organization?.name, details.boundOrganization?.name].map((name) => name?.toLowerCase());
  if (!names.includes(org.toLowerCase())) notFound();
}
