import type { Metadata } from "next";
import { RepoListPage } from "../_components/repos/repo-list-page.tsx";
import type { PageQuery } from "../_server/page-query.ts";

export const metadata: Metadata = { title: "Models" };

export default async function ModelsPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  return <RepoListPage type="model" query={await searchParams} />;
}
