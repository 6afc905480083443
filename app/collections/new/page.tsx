import type { Metadata } from "next";
import { personActor } from "#core/access/actor.ts";
import { ActionForm } from "../../_components/action-form.client.tsx";
import { Select } from "../../_components/fields.client.tsx";
import { FormButtons } from "../../_components/form-buttons.tsx";
import { Card, PageHeader } from "../../_components/page-layout.tsx";
import { SiteFrame } from "../../_components/site-frame.tsx";
import { organizationNames } from "../../_server/owner-page.ts";
import { type PageQuery, textOf } from "../../_server/page-query.ts";
import { requireSession } from "../../_server/session.ts";
import { createCollectionAction } from "../actions.ts";
import { CollectionFields } from "../collection-fields.tsx";
import { COLLECTIONS_PATH, collectionsPath, newCollectionPath } from "../collections-path.ts";

export const metadata: Metadata = { title: "New collection" };

export default async function NewCollectionPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const asked = textOf((await searchParams).owner).slice(0, 100);
  const session = await requireSession(newCollectionPath(asked));
  const { username } = session.user;
  const owners = [username, ...(await organizationNames(personActor(session), "collection.create"))];
  const owner = owners.find((one) => one.toLowerCase() === asked.toLowerCase()) ?? username;
  return (
    <SiteFrame width="reading">
      <PageHeader
        title="New collection"
        trail={[{ href: COLLECTIONS_PATH, label: "Collections" }]}
        description="You can add repositories next."
      />
      <Card className="px-4 py-5 sm:px-5">
        <ActionForm action={createCollectionAction} values={{ owner, theme: "blue", visibility: "public" }}>
          <Select name="owner" label="Owner" options={owners.map((value) => ({ value, label: value }))} />
          <CollectionFields />
          <FormButtons cancelHref={collectionsPath({ owner: asked })}>Create collection</FormButtons>
        </ActionForm>
      </Card>
    </SiteFrame>
  );
}
