import { repoTypes } from "@keyhook/sdk";
import { Library } from "lucide-react";
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { personActor } from "#core/access/actor.ts";
import { isServiceError } from "#core/errors.ts";
import { collectionName, ITEM_NOTE_MAX_CHARACTERS } from "#core/hub/collections/collection.ts";
import { listChangeableCollections } from "#core/hub/collections/list-collections.ts";
import { findRepo } from "#core/hub/repos/find-repo.ts";
import { ActionForm, SubmitButton } from "../../_components/action-form.client.tsx";
import { ButtonLink } from "../../_components/button.tsx";
import { Select, TextArea } from "../../_components/fields.client.tsx";
import { EmptyState } from "../../_components/list.tsx";
import { Card, PageHeader } from "../../_components/page-layout.tsx";
import { SiteFrame } from "../../_components/site-frame.tsx";
import { type PageQuery, textOf } from "../../_server/page-query.ts";
import { repoHref } from "../../_server/repo-page.ts";
import { requireSession } from "../../_server/session.ts";
import { addToCollectionAction } from "../actions.ts";
import { addToCollectionPath, newCollectionPath } from "../collections-path.ts";

export const metadata: Metadata = { title: "New collection item" };

export default async function AddToCollectionPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const query = await searchParams;
  const type = repoTypes.find((one) => one === textOf(query.type));
  const [owner = "", name = ""] = textOf(query.repo).split("/");
  if (!type) notFound();
  const person = personActor(await requireSession(addToCollectionPath({ type, fullName: `${owner}/${name}` })));
  const repo = await findRepo(person, { type, owner, name }).catch((error: unknown) => {
    if (isServiceError(error)) notFound();
    throw error;
  });
  const collections = await listChangeableCollections(person);
  return (
    <SiteFrame width="reading">
      <PageHeader
        title="New collection item"
        trail={[{ href: repoHref(repo), label: <bdi>{repo.fullName}</bdi> }]}
        description="The repository is added at the end of the collection. You can move it later."
      />
      <Card className={collections.length > 0 ? "px-4 py-5 sm:px-5" : undefined}>
        {collections.length === 0 ? (
          <EmptyState
            Icon={Library}
            title="You have no collections yet"
            action={<ButtonLink href={newCollectionPath()}>New collection</ButtonLink>}
          >
            Create one first, then come back to this repository.
          </EmptyState>
        ) : (
          <ActionForm action={addToCollectionAction}>
            <input type="hidden" name="type" value={type} />
            <input type="hidden" name="repo" value={repo.fullName} />
            <Select
              name="slug"
              label="Collection"
              options={collections.map((one) => ({ value: collectionName(one), label: `${one.owner.handle} / ${one.title}` }))}
            />
            <TextArea
              name="note"
              label="Note"
              hint="A note for readers of the collection."
              maxLength={ITEM_NOTE_MAX_CHARACTERS}
              isOptional
            />
            <div className="flex flex-wrap gap-3">
              <SubmitButton>Add</SubmitButton>
              <ButtonLink href={newCollectionPath()} variant="quiet">
                New collection
              </ButtonLink>
            </div>
          </ActionForm>
        )}
      </Card>
    </SiteFrame>
  );
}
