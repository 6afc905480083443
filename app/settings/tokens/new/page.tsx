import type { Metadata } from "next";
import { ActionForm } from "../../../_components/action-form.client.tsx";
import { ScopeChoices } from "../../../_components/applications/scope-choices.tsx";
import { ButtonLink } from "../../../_components/button.tsx";
import { Field } from "../../../_components/field.client.tsx";
import { PageHeader } from "../../../_components/page-header.tsx";
import { SectionCard } from "../../../_components/section-card.tsx";
import { Select } from "../../../_components/select.client.tsx";
import { SubmitButton } from "../../../_components/submit-button.client.tsx";
import { type PageQuery, textOf } from "../../../_server/page-query.ts";
import { requireRecentSession } from "../../../_server/session.ts";
import { createTokenAction } from "../actions.ts";
import { MadeToken } from "./made-token.client.tsx";

export const metadata: Metadata = { title: "New access token" };

const lifetimes = [
  { value: "7", label: "7 days" },
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
  { value: "365", label: "1 year" },
  { value: "never", label: "Never" },
];

/** A token outlives the session that makes it, so making one needs a recent password (S113). */
export default async function NewTokenPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  // Where people come from an empty repository, what git needs is ticked, and no more.
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
        <MadeToken>
          <SectionCard title="Token">
            <div className="grid max-w-reading gap-5">
              <Field name="name" label="Name" hint="Where you will use it: laptop, nightly build." autoComplete="off" />
              <Select name="expiresInDays" label="Expires after" options={lifetimes} />
            </div>
          </SectionCard>
          <SectionCard
            title="Permissions"
            description="Whoever has the token can do this in your name. Tick as little as will do."
          >
            <ScopeChoices chosen={isForGit ? ["write-repos"] : []} />
          </SectionCard>
          <div className="flex flex-wrap gap-3">
            <SubmitButton>Make token</SubmitButton>
            <ButtonLink href="/settings/tokens">Cancel</ButtonLink>
          </div>
        </MadeToken>
      </ActionForm>
    </>
  );
}
