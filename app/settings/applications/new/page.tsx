import type { Metadata } from "next";
import { NewAppForm } from "../../../_components/applications/new-app-form.tsx";
import { PageHeader } from "../../../_components/page-header.tsx";
import { requireSession } from "../../../_server/session.ts";

export const metadata: Metadata = { title: "New app" };

export default async function NewApplicationPage() {
  await requireSession("/settings/applications/new");
  return (
    <>
      <PageHeader
        trail={[{ href: "/settings/applications", label: "OAuth apps" }]}
        title="New app"
        description="You can change all of this later."
      />
      <NewAppForm organizationName={null} listPath="/settings/applications" />
    </>
  );
}
