import type { TestPerson } from "../../accounts/testing/people.ts";
import type { DiscussionName } from "../discussions/find-discussion.ts";
import { changeRefs } from "../git/refs/change-refs.ts";
import { resolveRef, updateRefs } from "../git/refs/git-refs.ts";
import { openRepository } from "../git/repository.ts";
import type { Repo } from "../repos/repo.ts";
import { commitTo } from "./repos.ts";

export function nameOf({ type, owner, name }: Repo, num: number): DiscussionName {
  return { repo: { type, owner: owner.handle, name }, num };
}

export async function setRef(repo: Repo, person: TestPerson, ref: string, newSha: string | null): Promise<void> {
  const path = await openRepository(repo);
  const change = { ref, oldSha: await resolveRef(path, ref), newSha };
  await changeRefs(repo, person.actor, [change], () => updateRefs(path, [change]));
}

export async function branchWith(
  repo: Repo,
  person: TestPerson,
  branch: string,
  files: Record<string, string>,
  { from = repo.defaultBranch, message = "Add files" } = {},
): Promise<string> {
  const start = await resolveRef(await openRepository(repo), `refs/heads/${from}`);
  await setRef(repo, person, `refs/heads/${branch}`, start);
  return commitTo(repo, person, files, { branch, message });
}
