import { repoTypes } from "@keyhook/sdk";
import { Library } from "lucide-react";
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { personActor } from "#core/access/actor.ts";
import { isServiceError } from "#core/errors.ts";
import { collectionName, ITEM_NOTE_MAX_CHARACTERS } from "#core/hub/collections/collection.ts";
import { listChangeableCollections } from "#core/hub/collections/list-changeable-collections.ts";
import { findRepo } from "#core/hub/repos/find-repo.ts";
import { ActionForm } from "../../_components/action-form.client.tsx";
import { ButtonLink } from "../../_components/button.tsx";
import { Card } from "../../_components/card.tsx";
import { EmptyState } from "../../_components/empty-state.tsx";
import { PageBody } from "../../_components/page-body.tsx";
import { PageHeader } from "../../_components/page-header.tsx";
import { Select } from "../../_components/select.client.tsx";
import { SiteFrame } from "../../_components/site-frame.tsx";
import { SubmitButton } from "../../_components/submit-button.client.tsx";
import { TextArea } from "../../_components/text-area.client.tsx";
import { type PageQuery, textOf } from "../../_server/page-query.ts";
import { repoHref } from "../../_server/repo-page.ts";
import { requireSession } from "../../_server/session.ts";
import { addToCollectionAction } from "../actions.ts";
import { addToCollectionPath, newCollectionPath } from "../collections-path.ts";

export const metadata: Metadata = { title: "Add to a collection" };

/** Puts one repository, which brought the reader here, into a collection of theirs. */
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
    <SiteFrame>
      <PageBody width="reading">
        <PageHeader
          title="Add to a collection"
          trail={[{ href: repoHref(repo), label: <bdi>{repo.fullName}</bdi> }]}
          description="It goes to the end; you can put it elsewhere afterwards."
        />
        <Card className={collections.length > 0 ? "px-4 py-5 sm:px-5" : undefined}>
          {collections.length === 0 ? (
            <EmptyState
              Icon={Library}
              title="You have no collections yet"
              action={<ButtonLink href={newCollectionPath()}>New collection</ButtonLink>}
            >
              Make one first, then come back to this repository.
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
                hint="What is good to know of it here."
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
      </PageBody>
    </SiteFrame>
  );
}
