import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { collectionName, collectionPath } from "#core/hub/collections/collection.ts";
import { readItemsOf } from "#core/hub/collections/items.ts";
import { ActionForm, SubmitButton } from "../../../../_components/action-form.client.tsx";
import { ButtonLink } from "../../../../_components/button.tsx";
import { ConfirmDestructive } from "../../../../_components/details-form.client.tsx";
import { Field } from "../../../../_components/fields.client.tsx";
import { FormMessage, PageHeader, SectionCard } from "../../../../_components/page-layout.tsx";
import { SiteFrame } from "../../../../_components/site-frame.tsx";
import { noticeOf, type PageQuery, pageOf } from "../../../../_server/page-query.ts";
import { requireSession } from "../../../../_server/session.ts";
import { deleteCollectionAction, moveCollectionAction, updateCollectionAction } from "../../../actions.ts";
import { CollectionFields } from "../../../collection-fields.tsx";
import { editCollectionPath, ITEMS_ON_A_PAGE } from "../../../collections-path.ts";
import { type CollectionParams, collectionPage } from "../collection-page.ts";
import { ItemsSection } from "./items-section.tsx";

export const metadata: Metadata = { title: "Collection settings" };

const notices: Record<string, string> = {
  created: "Collection created. Add repositories below.",
  saved: "Saved.",
  placed: "Position changed.",
  added: "Repository added.",
  moved: "Moved.",
  removed: "Repository removed.",
};

export default async function EditCollectionPage({
  params,
  searchParams,
}: Readonly<{ params: CollectionParams; searchParams: PageQuery }>) {
  const { owner: ownerInUrl, slug: slugInUrl } = await params;
  await requireSession(`/collections/${ownerInUrl}/${slugInUrl}/edit`);
  const { collection, actor, mayWrite } = await collectionPage(params, "/edit");
  if (!mayWrite) notFound();
  const items = await readItemsOf(actor, collection.id);
  const { title, owner, description, theme, isPrivate, position } = collection;
  const slug = collectionName(collection);
  const query = await searchParams;
  const notice = noticeOf(notices, query.notice);
  const page = pageOf(query.page, Math.max(Math.ceil(items.length / ITEMS_ON_A_PAGE), 1));
  const hidden = <input type="hidden" name="slug" value={slug} />;
  const values = { title, description: description ?? "", theme, visibility: isPrivate ? "private" : "public" };
  return (
    <SiteFrame width="page">
      <PageHeader
        title="Collection settings"
        trail={[{ href: collectionPath(collection), label: <bdi>{title}</bdi> }]}
        actions={<ButtonLink href={collectionPath(collection)}>Done</ButtonLink>}
      />
      <div className="grid grid-cols-1 gap-5">
        {notice && <FormMessage tone="good">{notice}</FormMessage>}
        <ItemsSection
          items={items}
          slug={slug}
          page={page}
          hrefOf={(page) => editCollectionPath(collection, { position: (page - 1) * ITEMS_ON_A_PAGE })}
        />
        <SectionCard title="About the collection">
          <ActionForm
            key={JSON.stringify(values)}
            action={updateCollectionAction}
            values={values}
            label="About the collection"
            className="grid max-w-reading gap-5"
          >
            {hidden}
            <CollectionFields />
            <SubmitButton variant="secondary">Save</SubmitButton>
          </ActionForm>
        </SectionCard>
        <SectionCard
          title="Position"
          description={
            <>
              The position among the collections of <bdi>{owner.handle}</bdi>, starting at 1.
            </>
          }
        >
          <ActionForm
            key={position}
            action={moveCollectionAction}
            values={{ place: String(position + 1) }}
            label="Position"
            className="flex flex-wrap items-end gap-3"
          >
            {hidden}
            <div className="w-24">
              <Field name="place" label="Position" type="number" min={1} inputMode="numeric" />
            </div>
            <SubmitButton variant="secondary">Change position</SubmitButton>
          </ActionForm>
        </SectionCard>
        <SectionCard title="Deletion" isDanger>
          <ConfirmDestructive
            action={deleteCollectionAction}
            trigger="Delete this collection"
            title={
              <>
                Delete <bdi>{title}</bdi>?
              </>
            }
            confirm="Delete the collection"
          >
            {hidden}
            The list and its notes are deleted permanently. The repositories themselves are kept.
          </ConfirmDestructive>
        </SectionCard>
      </div>
    </SiteFrame>
  );
}
