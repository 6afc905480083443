import { Plug } from "lucide-react";
import type { Metadata } from "next";
import { type ListedPlatform, listPlatforms } from "#core/hub/platforms/list-platforms.ts";
import { PLATFORM_NAME_MAX_CHARACTERS, PLATFORM_SOURCE_MAX_CHARACTERS } from "#core/hub/platforms/platform.ts";
import { ActionForm } from "../../_components/action-form.client.tsx";
import { ConfirmDestructive } from "../../_components/confirm-destructive.client.tsx";
import { EmptyState } from "../../_components/empty-state.tsx";
import { Field } from "../../_components/field.client.tsx";
import { FormMessage } from "../../_components/form-message.tsx";
import { List, ListRow } from "../../_components/list.tsx";
import { PageHeader } from "../../_components/page-header.tsx";
import { RelativeTime } from "../../_components/relative-time.tsx";
import { SectionCard } from "../../_components/section-card.tsx";
import { SubmitButton } from "../../_components/submit-button.client.tsx";
import { requireOperator } from "../../_server/operator-page.ts";
import { type PageQuery, textOf } from "../../_server/page-query.ts";
import { createPlatformAction, revokePlatformAction, rotateTokenAction } from "./actions.ts";
import { NewToken } from "./new-token.client.tsx";

export const metadata: Metadata = { title: "Platforms · Administration" };

/** The systems beside us that tell of repositories of their own; bounded, so that the list is whole. */
export default async function PlatformsPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const operator = await requireOperator("/admin/platforms");
  const [platforms, query] = await Promise.all([listPlatforms(operator), searchParams]);
  return (
    <>
      <PageHeader
        title="Platforms"
        description="A system with repositories of its own can tell of them here, and of what happens to them: people then watch them like any other."
      />
      <div className="grid grid-cols-1 gap-5">
        {textOf(query.notice) === "revoked" && (
          <FormMessage tone="good">The platform is revoked. What it told of its repositories is gone.</FormMessage>
        )}
        <SectionCard title="Platforms that may speak" isFlush>
          {platforms.length === 0 ? (
            <EmptyState Icon={Plug} title="There are none">
              Repositories are hosted here. Add a platform when some of yours are elsewhere.
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
          title="Add a platform"
          description="It gets a token, with which it mirrors its repositories and sends events. Events of another source are refused."
        >
          <ActionForm action={createPlatformAction} label="Add a platform" className="grid max-w-reading gap-4">
            <NewToken />
            <Field
              name="name"
              label="Name"
              hint="What operators know it by."
              autoComplete="off"
              maxLength={PLATFORM_NAME_MAX_CHARACTERS}
            />
            <Field
              name="source"
              label="Source"
              hint="What the source of its events begins with, such as https://git.example.com."
              isMono
              autoCapitalize="none"
              autoComplete="off"
              spellCheck={false}
              maxLength={PLATFORM_SOURCE_MAX_CHARACTERS}
            />
            <div>
              <SubmitButton variant="secondary">Add platform</SubmitButton>
            </div>
          </ActionForm>
        </SectionCard>
      </div>
    </>
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
          {repos} · token …{last4},{" "}
          {lastUsedAt ? (
            <>
              last used <RelativeTime at={lastUsedAt} />
            </>
          ) : (
            "never used"
          )}{" "}
          · added <RelativeTime at={createdAt} />
          {previousExpiresAt && (
            <>
              {" · the token before works until "}
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
          <div>
            <SubmitButton variant="secondary" size="small">
              New token<span className="sr-only"> for {name}</span>
            </SubmitButton>
          </div>
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
          Its tokens end at once, and the {repos} that it told of are not known here any more. Collections lose them too.
        </ConfirmDestructive>
      </div>
    </ListRow>
  );
}
