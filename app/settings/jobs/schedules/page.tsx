import type { Metadata } from "next";
import { ScheduleListPage } from "../../../_components/jobs/schedule-list-page.tsx";
import { findJobPlace } from "../../../_server/jobs/find-job-place.ts";
import type { PageQuery } from "../../../_server/page-query.ts";

export const metadata: Metadata = { title: "Schedules" };

type Props = Readonly<{ searchParams: PageQuery }>;

export default async function SchedulesPage({ searchParams }: Props) {
  return <ScheduleListPage place={await findJobPlace(null)} query={await searchParams} />;
}
