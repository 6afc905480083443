import { AppWindow } from "lucide-react";
import Link from "next/link";
import { APPS_PAGE_SIZE, type AppPage, type ListedApp } from "#core/oauth/apps/list-apps.ts";
import { TOKEN_EXCHANGE } from "#core/oauth/apps/privilege.ts";
import { ButtonLink } from "../button.tsx";
import { Card } from "../card.tsx";
import { Chip } from "../chip.tsx";
import { EmptyState } from "../empty-state.tsx";
import { List, ListRow } from "../list.tsx";
import { Pagination } from "../pagination.tsx";
import { AppLogo } from "./app-logo.tsx";

export type AppListProps = Readonly<{
  page: AppPage;
  /** The path of the list; each app's page is below it. */
  path: string;
}>;

/** The apps of a person or an organization. */
export function AppList({ page, path }: AppListProps) {
  return (
    <>
      <Card>
        {page.total === 0 ? (
          <EmptyState
            Icon={AppWindow}
            title="No apps yet"
            action={
              <ButtonLink variant="primary" href={`${path}/new`}>
                New app
              </ButtonLink>
            }
          >
            Make one to let people sign in to your website, your mobile app or your command line with their account here.{" "}
            <Link prefetch={false} href="/docs/sign-in" className="link">
              How it works
            </Link>
          </EmptyState>
        ) : (
          <List label="OAuth apps">
            {page.apps.map((app) => (
              <AppRow key={app.id} app={app} path={path} />
            ))}
          </List>
        )}
      </Card>
      <Pagination
        label="OAuth apps"
        page={page.page}
        pageSize={APPS_PAGE_SIZE}
        total={page.total}
        hrefOf={(at) => `${path}?page=${at}`}
      />
    </>
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
      meta={<code className="break-all">{app.clientId}</code>}
      trailing={<span className="text-muted text-small">{countOfUsers(app.userCount)}</span>}
    />
  );
}

/** `no users yet`, `1 user`, `12,000 users`. */
export function countOfUsers(count: number): string {
  if (count === 0) return "no users yet";
  return count === 1 ? "1 user" : `${count.toLocaleString("en")} users`;
}
