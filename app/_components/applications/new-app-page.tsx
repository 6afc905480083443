import { appListPath } from "../../_server/applications/app-paths.ts";
import { PageHeader } from "../page-header.tsx";
import { NewAppForm } from "./new-app-form.tsx";

export type NewAppPageProps = Readonly<{
  /** The organization that will own the app; null for the person's own. */
  organizationName: string | null;
}>;

/** Makes an app for a person or an organization. */
export function NewAppPage({ organizationName }: NewAppPageProps) {
  const listPath = appListPath(organizationName);
  return (
    <>
      <PageHeader
        trail={[{ href: listPath, label: "OAuth apps" }]}
        title="New app"
        description="You can change all of this later."
      />
      <NewAppForm organizationName={organizationName} listPath={listPath} />
    </>
  );
}
