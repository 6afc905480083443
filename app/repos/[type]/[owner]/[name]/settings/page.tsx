import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { type RepoParams, repoPage } from "../../../../../_server/repo-page.ts";

export const metadata: Metadata = { title: "Settings" };

export default async function RepoSettingsPage({ params }: Readonly<{ params: RepoParams }>) {
  const { mayManage } = await repoPage(params);
  if (!mayManage) notFound();
  return <h2>Settings</h2>;
}
