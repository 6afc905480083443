import type { Metadata } from "next";
import { notFound, redirect } from "next/navigation";
import { cache } from "react";
import { anonymous, personActor } from "#core/access/actor.ts";
import { may } from "#core/access/may.ts";
import { findOwner } from "#core/accounts/handles/find-owner.ts";
import { ownerColumns } from "#core/hub/repos/repo.ts";
import { FormMessage } from "../_components/form-message.tsx";
import { PageBody } from "../_components/page-body.tsx";
import { RestrictionNotice } from "../_components/restriction-notice.tsx";
import { SiteFrame } from "../_components/site-frame.tsx";
import { type PageQuery, textOf } from "../_server/page-query.ts";
import { currentSession } from "../_server/session.ts";
import { CollectionsSection } from "./collections-section.tsx";
import { MembersSection } from "./members-section.tsx";
import { OwnerHeader } from "./owner-header.tsx";
import { ReposSection } from "./repos-section.tsx";

type Props = Readonly<{ params: Promise<{ owner: string }>; searchParams: PageQuery }>;

const ownerOf = cache(findOwner);

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const owner = await ownerOf((await params).owner);
  return { title: owner && (owner.fullName === owner.handle ? owner.handle : `${owner.fullName} (${owner.handle})`) };
}

/** What anybody may know of a user or an organization, and what they have here; for members also who else is in it. */
export default async function OwnerPage({ params, searchParams }: Props) {
  const [{ owner: handle }, query] = await Promise.all([params, searchParams]);
  const [owner, session] = await Promise.all([ownerOf(handle), currentSession()]);
  if (!owner) notFound();
  // One address for each, as its owner spells it.
  if (owner.handle !== handle) redirect(`/${owner.handle}`);
  const person = session && personActor(session);
  const actor = person ?? anonymous;
  const [mayCreate, mayCollect, mayList] = await Promise.all([
    may(actor, "repo.create", ownerColumns(owner)),
    may(actor, "collection.create", ownerColumns(owner)),
    owner.kind === "organization" && may(actor, "organization.list_members", { orgId: owner.id }),
  ]);
  const isMember =
    owner.kind === "organization" &&
    person !== undefined &&
    (await may(person, "organization.read_membership", { orgId: owner.id }));
  return (
    <SiteFrame>
      <PageBody width="reading">
        {textOf(query.notice) === "deleted" && (
          <FormMessage tone="good" className="mb-5">
            The repository is deleted.
          </FormMessage>
        )}
        <OwnerHeader owner={owner} isOneself={owner.id === person?.userId} isMember={isMember} />
        {person && isMember && (
          <RestrictionNotice userId={person.userId} orgId={owner.id} next={`/${owner.handle}`} className="mt-5" />
        )}
        <div className="mt-7 grid gap-5">
          <ReposSection owner={owner} actor={actor} mayCreate={mayCreate} />
          <CollectionsSection owner={owner} actor={actor} mayCreate={mayCollect} />
        </div>
        {person && mayList && <MembersSection owner={owner} person={person} page={Number(textOf(query.page))} />}
      </PageBody>
    </SiteFrame>
  );
}
