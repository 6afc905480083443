import type { Metadata } from "next";
import { NewJobPage } from "../../../_components/jobs/new-job-page.tsx";
import { findJobPlace } from "../../../_server/jobs/find-job-place.ts";
import type { PageQuery } from "../../../_server/page-query.ts";

export const metadata: Metadata = { title: "Run a job" };

type Props = Readonly<{ searchParams: PageQuery }>;

export default async function NewOwnJobPage({ searchParams }: Props) {
  return <NewJobPage place={await findJobPlace(null)} query={await searchParams} />;
}
