import type { Metadata } from "next";
import { personActor } from "#core/access/actor.ts";
import { readStorageUsage } from "#core/storage/read-usage.ts";
import { PageHeader } from "../../_components/page-layout.tsx";
import { StorageSections } from "../../_components/storage-sections.tsx";
import { requireSession } from "../../_server/session.ts";

export const metadata: Metadata = { title: "Storage" };

const PAGE = "/settings/storage";

export default async function StoragePage() {
  const session = await requireSession(PAGE);
  const owner = { kind: "user", id: session.userId, handle: session.user.username } as const;
  const usage = await readStorageUsage(personActor(session), owner);
  return (
    <>
      <PageHeader
        title="Storage"
        description="How much storage your repositories and records use. Organizations have storage of their own."
      />
      <StorageSections usage={usage} handle={owner.handle} kind="user" />
    </>
  );
}
