import type { Metadata } from "next";
import { NewSchedulePage } from "../../../../../../_components/jobs/new-schedule-page.tsx";
import { findJobPlace } from "../../../../../../_server/jobs/find-job-place.ts";
import type { PageQuery } from "../../../../../../_server/page-query.ts";

export const metadata: Metadata = { title: "New schedule" };

type Props = Readonly<{ params: Promise<{ org: string }>; searchParams: PageQuery }>;

export default async function NewOrganizationSchedulePage({ params, searchParams }: Props) {
  return <NewSchedulePage place={await findJobPlace((await params).org)} query={await searchParams} />;
}
