import { notFound, redirect } from "next/navigation";
import { findOwner } from "#core/accounts/handles/find-owner.ts";
import { jobPath } from "../../../_server/paths.ts";
import { requireSession } from "../../../_server/session.ts";

type Props = Readonly<{ params: Promise<{ owner: string; runId: string }> }>;

/** Clients of the API show this URL as `JobInfo.url`. */
export default async function JobRedirectPage({ params }: Props) {
  const { owner: handle, runId } = await params;
  const session = await requireSession(`/jobs/${encodeURIComponent(handle)}/${encodeURIComponent(runId)}`);
  const owner = await findOwner(handle);
  if (!owner) notFound();
  if (owner.kind === "organization") redirect(jobPath(owner.handle, runId));
  if (owner.id !== session.userId) notFound();
  redirect(jobPath(null, runId));
}
