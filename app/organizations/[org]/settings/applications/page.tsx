import type { Metadata } from "next";
import { AppListPage } from "../../../../_components/applications/app-list-page.tsx";
import { findAppOwner } from "../../../../_server/applications/find-app-owner.ts";
import type { PageQuery } from "../../../../_server/page-query.ts";

export const metadata: Metadata = { title: "OAuth apps" };

type Props = Readonly<{ params: Promise<{ org: string }>; searchParams: PageQuery }>;

export default async function OrganizationApplicationsPage({ params, searchParams }: Props) {
  const { person, organization } = await findAppOwner((await params).org);
  return <AppListPage person={person} organization={organization} query={await searchParams} />;
}
