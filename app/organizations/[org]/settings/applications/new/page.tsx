import type { Metadata } from "next";
import { NewAppPage } from "../../../../../_components/applications/new-app-page.tsx";
import { findAppOwner } from "../../../../../_server/applications/find-app-owner.ts";

export const metadata: Metadata = { title: "New app" };

export default async function NewOrganizationApplicationPage({ params }: Readonly<{ params: Promise<{ org: string }> }>) {
  const { organization } = await findAppOwner((await params).org);
  return <NewAppPage organizationName={organization.name} />;
}
