import type { Metadata } from "next";
import { listApps } from "#core/oauth/apps/list-apps.ts";
import { AppList } from "../../_components/applications/app-list.tsx";
import { ButtonLink } from "../../_components/button.tsx";
import { FormMessage } from "../../_components/form-message.tsx";
import { PageHeader } from "../../_components/page-header.tsx";
import { type PageQuery, textOf } from "../../_server/page-query.ts";
import { requirePerson } from "../../_server/session.ts";

export const metadata: Metadata = { title: "OAuth apps" };

const PATH = "/settings/applications";

export default async function ApplicationsPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const person = await requirePerson(PATH);
  const { page, notice } = await searchParams;
  const apps = await listApps(person, { userId: person.userId }, { page: Number(textOf(page)) });
  return (
    <>
      <PageHeader
        title="OAuth apps"
        description="Apps of yours that people sign in to with their account here."
        actions={
          apps.total > 0 && (
            <ButtonLink variant="primary" href={`${PATH}/new`}>
              New app
            </ButtonLink>
          )
        }
      />
      {textOf(notice) === "deleted" && (
        <FormMessage tone="good" className="mb-5">
          The app is deleted, and all its tokens with it.
        </FormMessage>
      )}
      <AppList page={apps} path={PATH} />
    </>
  );
}
