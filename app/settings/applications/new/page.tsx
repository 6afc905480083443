import type { Metadata } from "next";
import { NewAppPage } from "../../../_components/applications/new-app-page.tsx";
import { requireSession } from "../../../_server/session.ts";

export const metadata: Metadata = { title: "New app" };

export default async function NewApplicationPage() {
  await requireSession("/settings/applications/new");
  return <NewAppPage organizationName={null} />;
}
