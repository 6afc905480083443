import { type RepoType, repoTypes } from "@keyhook/sdk";
import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { deleteRepo } from "#core/hub/repos/delete-repo.ts";
import type { RepoName } from "#core/hub/repos/find-repo.ts";
import { listRepos, REPO_LIST_MAX } from "#core/hub/repos/list-repos.ts";
import { moveRepo } from "#core/hub/repos/move-repo.ts";
import { command, UsageError } from "./command.ts";

const type = { value: "TYPE", help: "model unless given", choices: repoTypes } as const;
const name = { value: "OWNER/NAME", help: "the repository", isRequired: true } as const;

export const repoList = command({
  name: "repo list",
  summary: "Lists repositories, private ones too, the latest changed first.",
  options: {
    owner: { value: "NAME", help: "of this user or organization" },
    type: { ...type, help: "of this type" },
    search: { value: "WORDS", help: "with these in the name" },
  },
  async run({ owner, type: only, search }) {
    const { repos, nextCursor } = await listRepos(operatorCommand, {
      ...(owner && { owner }),
      ...(only && { type: only as RepoType }),
      ...(search && { search }),
      limit: REPO_LIST_MAX,
    });
    const lines = repos.map((repo) => `${repo.type}  ${repo.fullName}  ${repo.isPrivate ? "private" : "public"}  ${repo.id}`);
    if (nextCursor) lines.push(`These are the first ${REPO_LIST_MAX}. Narrow it down with --owner, --type or --search.`);
    return {
      json: {
        repos: repos.map((repo) => ({ id: repo.id, type: repo.type, name: repo.fullName, private: repo.isPrivate })),
        has_more: nextCursor !== null,
      },
      text: lines.join("\n") || "There are none.",
    };
  },
});

export const repoMove = command({
  name: "repo move",
  summary: "Gives a repository another name or owner. Its old address leads to the new one.",
  options: { name, type, to: { value: "OWNER/NAME", help: "what it is to be called", isRequired: true } },
  async run(values) {
    const [wanted, to] = [parseName("name", values.name, values.type), parseName("to", values.to, values.type)];
    const repo = await moveRepo(operatorCommand, wanted, to, noOrigin);
    return { json: { id: repo.id, name: repo.fullName }, text: `It is ${repo.fullName} now.` };
  },
});

export const repoDelete = command({
  name: "repo delete",
  summary: "Deletes a repository for good, with its discussions and its files.",
  options: {
    name,
    type,
    confirm: { value: "OWNER/NAME", help: "the same name once more, so that nothing is deleted by a slip", isRequired: true },
  },
  async run(values) {
    if (values.confirm !== values.name) throw new UsageError("--confirm has to be what --name is");
    await deleteRepo(operatorCommand, parseName("name", values.name, values.type), noOrigin);
    return { json: { deleted: values.name }, text: `${values.name} is gone.` };
  },
});

function parseName(option: string, text: string, given: string | undefined): RepoName {
  const [owner, repo, ...rest] = text.split("/");
  if (!owner || !repo || rest.length > 0) throw new UsageError(`--${option}: write OWNER/NAME`);
  return { type: (given ?? "model") as RepoType, owner, name: repo };
}
