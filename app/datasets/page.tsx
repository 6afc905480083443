import type { Metadata } from "next";
import { RepoListPage } from "../_components/repos/repo-list-page.tsx";
import type { PageQuery } from "../_server/page-query.ts";

export const metadata: Metadata = { title: "Datasets" };

export default async function DatasetsPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  return <RepoListPage type="dataset" query={await searchParams} />;
}
