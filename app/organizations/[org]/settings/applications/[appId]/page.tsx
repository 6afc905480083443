import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { AppPage } from "../../../../../_components/applications/app-page.tsx";
import { findManagedApp } from "../../../../../_server/applications/find-managed-app.ts";
import { type PageQuery, textOf } from "../../../../../_server/page-query.ts";

type Props = Readonly<{ params: Promise<{ org: string; appId: string }>; searchParams: PageQuery }>;

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { details } = await findManagedApp((await params).appId);
  return { title: details.app.name };
}

export default async function OrganizationApplicationPage({ params, searchParams }: Props) {
  const { org, appId } = await params;
  const { person, details } = await findManagedApp(appId);
  // The address must tell the truth about whose the app is, or to whom it is bound.
  const names = [details.organization?.name, details.boundOrganization?.name].map((name) => name?.toLowerCase());
  if (!names.includes(org.toLowerCase())) notFound();
  return <AppPage person={person} details={details} notice={textOf((await searchParams).notice)} />;
}
