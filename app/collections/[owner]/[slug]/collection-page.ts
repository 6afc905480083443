import { notFound, redirect } from "next/navigation";
import { cache } from "react";
import { type Actor, anonymous, personActor } from "#core/access/actor.ts";
import { may } from "#core/access/may.ts";
import { isServiceError } from "#core/errors.ts";
import { type Collection, collectionPath, collectionResource } from "#core/hub/collections/collection.ts";
import { findCollection } from "#core/hub/collections/find-collection.ts";
import { organizationPath } from "../../../_server/organization-page.ts";
import { decodeSegment } from "../../../_server/repo-page.ts";
import { currentSession } from "../../../_server/session.ts";

export type CollectionParams = Promise<{ owner: string; slug: string }>;

/** The ID in the URL identifies the collection; another owner or title redirects. 404 for users without access (S136). */
export async function collectionPage(
  params: CollectionParams,
  page: "" | "/edit" = "",
): Promise<{ collection: Collection; actor: Actor; mayWrite: boolean }> {
  const { owner, slug } = await params;
  const found = await readCollectionPage(decodeSegment(slug), decodeSegment(owner));
  const path = collectionPath(found.collection);
  if (path !== `/collections/${decodeSegment(owner)}/${decodeSegment(slug)}`) redirect(path + page);
  return found;
}

const readCollectionPage = cache(async (slug: string, owner: string) => {
  const session = await currentSession();
  const actor = session ? personActor(session) : anonymous;
  const collection = await findCollection(actor, slug).catch((error: unknown) => {
    if (isServiceError(error) && error.code === "not_found") notFound();
    // The organization's page lists the requirements for members.
    if (isServiceError(error) && error.requires?.securityRestrictions) redirect(organizationPath(owner));
    throw error;
  });
  return { collection, actor, mayWrite: await may(actor, "collection.write", collectionResource(collection)) };
});
