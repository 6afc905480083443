import type { Person } from "#core/access/actor.ts";
import { listApps } from "#core/oauth/apps/list-apps.ts";
import { appListPath } from "../../_server/applications/app-paths.ts";
import { textOf } from "../../_server/page-query.ts";
import { ButtonLink } from "../button.tsx";
import { FormMessage } from "../form-message.tsx";
import { PageHeader } from "../page-header.tsx";
import { AppList } from "./app-list.tsx";

export type AppListPageProps = Readonly<{
  person: Person;
  /** Whose apps they are; null for the person's own. */
  organization: Readonly<{ id: string; name: string; fullName: string }> | null;
  query: Readonly<Record<string, string | string[] | undefined>>;
}>;

/** The OAuth apps of a person or an organization. */
export async function AppListPage({ person, organization, query }: AppListPageProps) {
  const path = appListPath(organization?.name ?? null);
  const owner = organization ? { orgId: organization.id } : { userId: person.userId };
  const apps = await listApps(person, owner, { page: Number(textOf(query.page)) });
  return (
    <>
      <PageHeader
        title="OAuth apps"
        description={
          organization
            ? `Apps of ${organization.fullName} that people sign in to with their account here.`
            : "Apps of yours that people sign in to with their account here."
        }
        actions={
          apps.total > 0 && (
            <ButtonLink variant="primary" href={`${path}/new`}>
              New app
            </ButtonLink>
          )
        }
      />
      {textOf(query.notice) === "deleted" && (
        <FormMessage tone="good" className="mb-5">
          The app is deleted, and all its tokens with it.
        </FormMessage>
      )}
      <AppList page={apps} path={path} />
    </>
  );
}
