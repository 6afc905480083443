import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { AppPage } from "../../../_components/applications/app-page.tsx";
import { appHome, appPath } from "../../../_server/applications/app-paths.ts";
import { findManagedApp } from "../../../_server/applications/find-managed-app.ts";
import { type PageQuery, textOf } from "../../../_server/page-query.ts";

type Props = Readonly<{ params: Promise<{ appId: string }>; searchParams: PageQuery }>;

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { details } = await findManagedApp((await params).appId);
  return { title: details.app.name };
}

export default async function ApplicationPage({ params, searchParams }: Props) {
  const { person, details } = await findManagedApp((await params).appId);
  // An organization's app has its page among the organization's own; so has, for its administrators, one that is bound to it.
  const home = appHome(details);
  if (home) redirect(appPath(home, details.app.id));
  return <AppPage person={person} details={details} notice={textOf((await searchParams).notice)} />;
}
