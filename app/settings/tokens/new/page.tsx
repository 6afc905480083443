import type { Metadata } from "next";
import { ActionForm } from "../../../_components/action-form.client.tsx";
import { ScopeChoices } from "../../../_components/applications/app-fields.tsx";
import { Field, Select } from "../../../_components/fields.client.tsx";
import { FormButtons } from "../../../_components/form-buttons.tsx";
import { PageHeader, SectionCard } from "../../../_components/page-layout.tsx";
import { type PageQuery, textOf } from "../../../_server/page-query.ts";
import { requireRecentSession } from "../../../_server/session.ts";
import { createTokenAction } from "../../actions.ts";
import { CreatedToken } from "./created-token.client.tsx";

export const metadata: Metadata = { title: "New access token" };

const lifetimes = [
  { value: "7", label: "7 days" },
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
  { value: "365", label: "1 year" },
  { value: "never", label: "Never" },
];

/** A token outlives the session that creates it, so the page needs recent authentication (S113). */
export default async function NewTokenPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  // For users who come from an empty repository, only the scopes that git needs are ticked.
  const isForGit = textOf((await searchParams).for) === "git";
  await requireRecentSession(`/settings/tokens/new${isForGit ? "?for=git" : ""}`);
  return (
    <>
      <PageHeader trail={[{ href: "/settings/tokens", label: "Access tokens" }]} title="New access token" />
      <ActionForm
        action={createTokenAction}
        values={{ expiresInDays: "30", ...(isForGit && { name: "git" }) }}
        label="New access token"
      >
        <CreatedToken>
          <SectionCard title="Token">
            <div className="grid max-w-reading gap-5">
              <Field
                name="name"
                label="Name"
                hint="Where you will use it, such as “laptop” or “nightly build”."
                autoComplete="off"
              />
              <Select name="expiresInDays" label="Expires after" options={lifetimes} />
            </div>
          </SectionCard>
          <SectionCard
            title="Permissions"
            description="Anyone who has the token can do what you select here in your name, including in your organizations, as far as your roles there allow. With “Create, change and delete your repositories”, the token can also manage OAuth apps and, where you are an administrator, export the organization's audit log. Select only what you need."
          >
            <ScopeChoices chosen={isForGit ? ["write-repos"] : []} isForToken />
          </SectionCard>
          <FormButtons cancelHref="/settings/tokens">Create token</FormButtons>
        </CreatedToken>
      </ActionForm>
    </>
  );
}
