import type { Metadata } from "next";
import { notFound, redirect } from "next/navigation";
import { cache } from "react";
import { personActor } from "#core/access/actor.ts";
import { may } from "#core/access/may.ts";
import { findOwner } from "#core/accounts/handles/find-owner.ts";
import { PageBody } from "../_components/page-body.tsx";
import { SiteFrame } from "../_components/site-frame.tsx";
import { type PageQuery, textOf } from "../_server/page-query.ts";
import { currentSession } from "../_server/session.ts";
import { MembersSection } from "./members-section.tsx";
import { OwnerHeader } from "./owner-header.tsx";

type Props = Readonly<{ params: Promise<{ owner: string }>; searchParams: PageQuery }>;

const ownerOf = cache(findOwner);

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const owner = await ownerOf((await params).owner);
  return { title: owner && (owner.fullName === owner.handle ? owner.handle : `${owner.fullName} (${owner.handle})`) };
}

/** What anybody may know of a user or an organization; for members of an organization also who else is in it. */
export default async function OwnerPage({ params, searchParams }: Props) {
  const [{ owner: handle }, query] = await Promise.all([params, searchParams]);
  const [owner, session] = await Promise.all([ownerOf(handle), currentSession()]);
  if (!owner) notFound();
  // One address for each, as its owner spells it.
  if (owner.handle !== handle) redirect(`/${owner.handle}`);
  const person = session && personActor(session);
  const isMember =
    owner.kind === "organization" &&
    person !== undefined &&
    (await may(person, "organization.read_membership", { orgId: owner.id }));
  return (
    <SiteFrame>
      <PageBody width="reading">
        <OwnerHeader owner={owner} isOneself={owner.id === person?.userId} isMember={isMember} />
        {isMember && <MembersSection owner={owner} person={person} page={Number(textOf(query.page))} />}
      </PageBody>
    </SiteFrame>
  );
}
