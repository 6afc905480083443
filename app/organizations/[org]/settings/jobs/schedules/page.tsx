import type { Metadata } from "next";
import { ScheduleListPage } from "../../../../../_components/jobs/schedule-list-page.tsx";
import { findJobPlace } from "../../../../../_server/jobs/find-job-place.ts";
import type { PageQuery } from "../../../../../_server/page-query.ts";

export const metadata: Metadata = { title: "Schedules" };

type Props = Readonly<{ params: Promise<{ org: string }>; searchParams: PageQuery }>;

export default async function OrganizationSchedulesPage({ params, searchParams }: Props) {
  return <ScheduleListPage place={await findJobPlace((await params).org)} query={await searchParams} />;
}
