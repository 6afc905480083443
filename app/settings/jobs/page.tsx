import type { Metadata } from "next";
import { JobListPage } from "../../_components/jobs/job-list-page.tsx";
import { findJobPlace } from "../../_server/jobs/find-job-place.ts";
import type { PageQuery } from "../../_server/page-query.ts";

export const metadata: Metadata = { title: "Jobs" };

type Props = Readonly<{ searchParams: PageQuery }>;

export default async function JobsPage({ searchParams }: Props) {
  return <JobListPage place={await findJobPlace(null)} query={await searchParams} />;
}
