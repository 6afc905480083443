import { AppWindow } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import { TOKEN_EXCHANGE } from "#core/oauth/apps/app-privilege.ts";
import { APPS_PAGE_SIZE, type ListedApp, listApps } from "#core/oauth/apps/list-apps.ts";
import { findAppsPage } from "../../_server/applications/find-app.ts";
import type { OwnerPageProps } from "../../_server/owner-page.ts";
import { hrefWith, noticeOf, textOf } from "../../_server/page-query.ts";
import { ButtonLink } from "../button.tsx";
import { Chip } from "../chip.tsx";
import { EmptyState, ListPage, ListRow } from "../list.tsx";
import { AppLogo } from "./app-logo.tsx";

export const metadata: Metadata = { title: "OAuth apps" };

const notices: Readonly<Record<string, string>> = {
  deleted: "App deleted, with all its tokens.",
  unbound: "The app is no longer bound to this organization, and all its exchanged tokens are revoked.",
};

export async function AppListPage({ params, searchParams }: OwnerPageProps) {
  const [{ org = null }, query] = await Promise.all([params, searchParams]);
  const { person, owner, fullName, page: path } = await findAppsPage(org);
  const of = owner.kind === "organization" ? { orgId: owner.id } : { userId: owner.id };
  const apps = await listApps(person, of, { page: Number(textOf(query.page)) });
  const create = (
    <ButtonLink variant="primary" href={`${path}/new`}>
      New app
    </ButtonLink>
  );
  return (
    <ListPage
      title="OAuth apps"
      description={
        fullName === null
          ? "Your apps that people sign in to with their accounts here."
          : `Apps of ${fullName} that people sign in to with their accounts here.`
      }
      actions={apps.total > 0 && create}
      notice={noticeOf(notices, query.notice)}
      label="OAuth apps"
      list={{ ...apps, items: apps.apps, pageSize: APPS_PAGE_SIZE }}
      hrefOf={(page) => hrefWith(path, { page })}
      row={(app) => <AppRow key={app.id} app={app} path={path} />}
      empty={
        <EmptyState Icon={AppWindow} title="No apps yet" action={create}>
          Create one to let people sign in to your website, mobile app or command-line tool with their account here.{" "}
          <Link prefetch={false} href="/docs/sign-in" className="link">
            How it works
          </Link>
        </EmptyState>
      }
    />
  );
}

function AppRow({ app, path }: Readonly<{ app: ListedApp; path: string }>) {
  return (
    <ListRow
      leading={<AppLogo app={app} />}
      title={
        <>
          <Link prefetch={false} href={`${path}/${app.id}`} className="link break-words">
            {app.name}
          </Link>
          {app.privileges.includes(TOKEN_EXCHANGE) ? <Chip>Exchanges tokens</Chip> : app.boundOrgId && <Chip>Bound</Chip>}
          {app.blockedAt && <Chip tone="bad">Blocked</Chip>}
        </>
      }
      meta={
        <>
          <code className="block wrap-anywhere">{app.clientId}</code>
          {countOfUsers(app.userCount)}
        </>
      }
    />
  );
}

export function countOfUsers(count: number): string {
  if (count === 0) return "no users yet";
  return count === 1 ? "1 user" : `${count.toLocaleString("en")} users`;
}
