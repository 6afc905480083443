import type { Metadata } from "next";
import { JobListPage } from "../../../../_components/jobs/job-list-page.tsx";
import { findJobPlace } from "../../../../_server/jobs/find-job-place.ts";
import type { PageQuery } from "../../../../_server/page-query.ts";

export const metadata: Metadata = { title: "Jobs" };

type Props = Readonly<{ params: Promise<{ org: string }>; searchParams: PageQuery }>;

export default async function OrganizationJobsPage({ params, searchParams }: Props) {
  return <JobListPage place={await findJobPlace((await params).org)} query={await searchParams} />;
}
