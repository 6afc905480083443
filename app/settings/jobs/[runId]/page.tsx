import type { Metadata } from "next";
import { findRun } from "#core/jobs/runs/find-run.ts";
import { RunPage } from "../../../_components/jobs/run-page.tsx";
import { findJobPlace, orNotFound } from "../../../_server/jobs/find-job-place.ts";
import type { PageQuery } from "../../../_server/page-query.ts";

export const metadata: Metadata = { title: "Job" };

type Props = Readonly<{ params: Promise<{ runId: string }>; searchParams: PageQuery }>;

export default async function JobPage({ params, searchParams }: Props) {
  const { runId } = await params;
  const place = await findJobPlace(null);
  const run = await orNotFound(findRun(place.person, place.owner, runId));
  return <RunPage place={place} run={run} query={await searchParams} />;
}
