import { type RepoParams, repoPage } from "../../../../_server/repo-page.ts";

export default async function RepoCardPage({ params }: Readonly<{ params: RepoParams }>) {
  const { repo } = await repoPage(params);
  return <p>{repo.fullName}</p>;
}
