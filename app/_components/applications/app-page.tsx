import type { Person } from "#core/access/actor.ts";
import { isRecentlyAuthenticated } from "#core/access/is-recently-authenticated.ts";
import { findUser } from "#core/accounts/users/find-user.ts";
import { appUsage } from "#core/oauth/apps/app-usage.ts";
import type { AppDetails } from "#core/oauth/apps/get-app.ts";
import { listBindable } from "#core/oauth/apps/list-bindable.ts";
import { listRecentExchanges } from "#core/oauth/exchange/list-recent-exchanges.ts";
import { appHome, appListPath, appPath } from "../../_server/applications/app-paths.ts";
import { Chip } from "../chip.tsx";
import { FormMessage } from "../form-message.tsx";
import { PageHeader } from "../page-header.tsx";
import { RelativeTime } from "../relative-time.tsx";
import { countOfUsers } from "./app-list.tsx";
import { AppLogo } from "./app-logo.tsx";
import { ConnectSection } from "./connect-section.tsx";
import { CredentialsSection } from "./credentials-section.tsx";
import { ExchangeSection } from "./exchange-section.tsx";
import { SecuritySection } from "./security-section.tsx";
import { AboutSection, DeleteSection, PermissionsSection, RedirectsSection, ScopesSection } from "./settings-sections.tsx";
import { TransferSection } from "./transfer-section.tsx";
import { UsageSection } from "./usage-section.tsx";

/** What just happened, said once after a redirect. */
const notices: Record<string, string> = {
  created: "The app is ready. Put its client ID into your code, or start from one of the examples below.",
  "secret-deleted": "The secret is deleted. The app works as a public app from now on.",
  "keys-set": "The app proves itself with its keys from now on. The example below shows how.",
  transferred: "The app has its new owner. Rotate its secret if others know it.",
  bound: "The app is bound. What it still needs for token exchange is listed below.",
  unbound: "The app is bound to no organization any more, and all that it had exchanged have ended.",
  "privilege-asked": "The operator is asked. You get a letter when the privilege is given.",
  "keys-removed": "The keys are removed. The app works as a public app from now on.",
};

function ownedBy({ organization, ownerUsername, isOwner }: AppDetails): string {
  if (organization) return `Owned by ${organization.fullName}`;
  return isOwner ? "Owned by you" : `Owned by ${ownerUsername ?? "nobody"}`;
}

export type AppPageProps = Readonly<{ person: Person; details: AppDetails; notice: string }>;

/** Everything about one app, for those who manage it. */
export async function AppPage({ person, details, notice }: AppPageProps) {
  const { app, isConfidential, userCount, isOwner } = details;
  const home = appHome(details);
  const page = appPath(home, app.id);
  const isRecent = isRecentlyAuthenticated(person);
  const [usage, exchanges, bindable, user] = await Promise.all([
    appUsage(person, app.id),
    details.isInCharge ? listRecentExchanges(person, app) : [],
    listBindable(person, app),
    findUser(person.userId),
  ]);
  return (
    <>
      <PageHeader
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
            {ownedBy(details)} · {countOfUsers(userCount)} · made <RelativeTime at={app.createdAt} />
          </>
        }
      />
      <div className="grid grid-cols-1 gap-5">
        {Object.hasOwn(notices, notice) && <FormMessage tone="good">{notices[notice]}</FormMessage>}
        {app.blockedAt && (
          <FormMessage tone="bad">
            An operator has blocked this app: nobody can sign in to it. Ask them for the reason.
          </FormMessage>
        )}
        <CredentialsSection details={details} isRecent={isRecent} page={page} />
        <ExchangeSection
          details={details}
          isRecent={isRecent}
          page={page}
          email={user?.email ?? ""}
          bindable={bindable}
          exchanges={exchanges}
        />
        {isOwner && <ConnectSection details={details} />}
        <UsageSection usage={usage} />
        {isOwner ? (
          <>
            <AboutSection app={app} />
            <RedirectsSection app={app} isRecent={isRecent} page={page} />
            <PermissionsSection details={details} />
            <SecuritySection details={details} isRecent={isRecent} page={page} />
            <TransferSection details={details} person={person} isRecent={isRecent} page={page} />
            <DeleteSection details={details} isRecent={isRecent} page={page} />
          </>
        ) : (
          details.isInCharge && <ScopesSection app={app} />
        )}
      </div>
    </>
  );
}
