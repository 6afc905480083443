import { Plug } from "lucide-react";
import type { Metadata } from "next";
import { type ListedPlatform, listPlatforms } from "#core/hub/platforms/manage-platforms.ts";
import { PLATFORM_NAME_MAX_CHARACTERS, PLATFORM_SOURCE_MAX_CHARACTERS } from "#core/hub/platforms/platform.ts";
import { ActionForm, SubmitButton } from "../../_components/action-form.client.tsx";
import { ConfirmDestructive } from "../../_components/details-form.client.tsx";
import { Field } from "../../_components/fields.client.tsx";
import { EmptyState, List, ListRow } from "../../_components/list.tsx";
import { PageColumn, SectionCard } from "../../_components/page-layout.tsx";
import { LastUsed, RelativeTime } from "../../_components/relative-time.tsx";
import { noticeOf, type PageQuery } from "../../_server/page-query.ts";
import { requireOperator } from "../../_server/session.ts";
import { createPlatformAction, revokePlatformAction, rotateTokenAction } from "../actions.ts";
import { NewToken } from "./new-token.client.tsx";

export const metadata: Metadata = { title: "Platforms · Administration" };

export default async function PlatformsPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const operator = await requireOperator("/admin/platforms");
  const [platforms, query] = await Promise.all([listPlatforms(operator), searchParams]);
  return (
    <PageColumn
      title="Platforms"
      description="A platform with its own repositories can report them and their changes here, so that users can watch them."
      notice={noticeOf({ revoked: "Platform revoked. The repositories that it reported were removed." }, query.notice)}
    >
      <SectionCard title="Connected platforms" isFlush>
        {platforms.length === 0 ? (
          <EmptyState Icon={Plug} title="No platforms yet">
            All repositories are hosted here. Add a platform if you host some elsewhere.
          </EmptyState>
        ) : (
          <List label="Platforms">
            {platforms.map((platform) => (
              <PlatformRow key={platform.id} platform={platform} />
            ))}
          </List>
        )}
      </SectionCard>
      <SectionCard
        title="New platform"
        description="The platform gets a token to mirror its repositories and send events. Events with another source are refused."
      >
        <ActionForm action={createPlatformAction} label="New platform" className="grid max-w-reading gap-4">
          <NewToken />
          <Field
            name="name"
            label="Name"
            hint="The name that operators see."
            autoComplete="off"
            maxLength={PLATFORM_NAME_MAX_CHARACTERS}
          />
          <Field
            name="source"
            label="Source"
            hint="The beginning of the source of its events, such as https://git.example.com."
            isMono
            maxLength={PLATFORM_SOURCE_MAX_CHARACTERS}
          />
          <SubmitButton>Add platform</SubmitButton>
        </ActionForm>
      </SectionCard>
    </PageColumn>
  );
}

function PlatformRow({ platform }: Readonly<{ platform: ListedPlatform }>) {
  const { id, name, source, last4, lastUsedAt, previousExpiresAt, repoCount, createdAt } = platform;
  const repos = repoCount === 1 ? "1 repository" : `${repoCount.toLocaleString("en")} repositories`;
  return (
    <ListRow
      title={<bdi className="wrap-anywhere min-w-0">{name}</bdi>}
      meta={
        <>
          <code className="block break-all">{source}</code>
          {repos} · token …{last4}, <LastUsed at={lastUsedAt} /> · added <RelativeTime at={createdAt} />
          {previousExpiresAt && (
            <>
              {" · the previous token expires "}
              <RelativeTime at={previousExpiresAt} />
            </>
          )}
        </>
      }
    >
      <div className="mt-3 grid gap-3">
        <ActionForm action={rotateTokenAction} label={`Token of ${name}`} className="grid gap-3">
          <input type="hidden" name="platform" value={id} />
          <NewToken />
          <SubmitButton variant="secondary" size="small">
            New token<span className="sr-only"> for {name}</span>
          </SubmitButton>
        </ActionForm>
        <ConfirmDestructive
          action={revokePlatformAction}
          trigger="Revoke"
          title={
            <>
              Revoke <bdi>{name}</bdi>?
            </>
          }
          confirm="Revoke the platform"
          size="small"
        >
          <input type="hidden" name="platform" value={id} />
          Its tokens are revoked immediately. What it reported ({repos}) is removed, including from collections.
        </ConfirmDestructive>
      </div>
    </ListRow>
  );
}
