import type { Metadata } from "next";
import { AppListPage } from "../../_components/applications/app-list-page.tsx";
import type { PageQuery } from "../../_server/page-query.ts";
import { requirePerson } from "../../_server/session.ts";

export const metadata: Metadata = { title: "OAuth apps" };

export default async function ApplicationsPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const person = await requirePerson("/settings/applications");
  return <AppListPage person={person} organization={null} query={await searchParams} />;
}
