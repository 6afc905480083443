import type { Metadata } from "next";
import { RepoListPage } from "../_components/repos/repo-list-page.tsx";
import type { PageQuery } from "../_server/page-query.ts";

export const metadata: Metadata = { title: "Spaces" };

export default async function SpacesPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  return <RepoListPage type="space" query={await searchParams} />;
}
