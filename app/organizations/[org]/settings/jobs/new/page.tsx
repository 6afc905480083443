import type { Metadata } from "next";
import { NewJobPage } from "../../../../../_components/jobs/new-job-page.tsx";
import { findJobPlace } from "../../../../../_server/jobs/find-job-place.ts";
import type { PageQuery } from "../../../../../_server/page-query.ts";

export const metadata: Metadata = { title: "Run a job" };

type Props = Readonly<{ params: Promise<{ org: string }>; searchParams: PageQuery }>;

export default async function NewOrganizationJobPage({ params, searchParams }: Props) {
  return <NewJobPage place={await findJobPlace((await params).org)} query={await searchParams} />;
}
