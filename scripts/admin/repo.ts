import { type RepoType, repoTypes } from "@keyhook/sdk";
import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { deleteRepo } from "#core/hub/repos/change-repo.ts";
import type { RepoName } from "#core/hub/repos/find-repo.ts";
import { listRepos, REPO_LIST_MAX } from "#core/hub/repos/list-repos.ts";
import { moveRepo } from "#core/hub/repos/move-repo.ts";
import { command, UsageError } from "./command.ts";

const type = { value: "TYPE", help: "model by default", choices: repoTypes } as const;
const name = { value: "OWNER/NAME", help: "the repository", isRequired: true } as const;

const repoList = command({
  name: "repo list",
  summary: "Lists repositories, including private ones, latest change first.",
  options: {
    owner: { value: "NAME", help: "of this user or organization" },
    type: { ...type, help: "of this type" },
    search: { value: "WORDS", help: "words in the name" },
  },
  async run({ owner, type: only, search }) {
    const { repos, nextCursor } = await listRepos(operatorCommand, {
      ...(owner && { owner }),
      ...(only && { type: only as RepoType }),
      ...(search && { search }),
      limit: REPO_LIST_MAX,
    });
    const lines = repos.map((repo) => `${repo.type}  ${repo.fullName}  ${repo.isPrivate ? "private" : "public"}  ${repo.id}`);
    if (nextCursor)
      lines.push(`These are the first ${REPO_LIST_MAX.toLocaleString("en")}. Narrow the list with --owner, --type or --search.`);
    return {
      json: {
        repos: repos.map((repo) => ({ id: repo.id, type: repo.type, name: repo.fullName, private: repo.isPrivate })),
        has_more: nextCursor !== null,
      },
      text: lines.join("\n") || "None.",
    };
  },
});

const repoMove = command({
  name: "repo move",
  summary: "Changes a repository's name or owner. Its old URL redirects to the new one.",
  options: { name, type, to: { value: "OWNER/NAME", help: "the new name", isRequired: true } },
  async run(values) {
    const [wanted, to] = [parseName("name", values.name, values.type), parseName("to", values.to, values.type)];
    const repo = await moveRepo(operatorCommand, wanted, to, noOrigin);
    return { json: { id: repo.id, name: repo.fullName }, text: `The repository is now ${repo.fullName}.` };
  },
});

const repoDelete = command({
  name: "repo delete",
  summary: "Deletes a repository permanently, with its discussions and its files.",
  options: {
    name,
    type,
    confirm: { value: "OWNER/NAME", help: "its name again, to confirm", isRequired: true },
  },
  async run(values) {
    if (values.confirm !== values.name) throw new UsageError("--confirm must repeat the name given with --name.");
    await deleteRepo(operatorCommand, parseName("name", values.name, values.type), noOrigin);
    return { json: { deleted: values.name }, text: `${values.name} was deleted.` };
  },
});

function parseName(option: string, text: string, given: string | undefined): RepoName {
  const [owner, repo, ...rest] = text.split("/");
  if (!owner || !repo || rest.length > 0) throw new UsageError(`--${option}: write OWNER/NAME`);
  return { type: (given ?? "model") as RepoType, owner, name: repo };
}

export const repoCommands = [repoList, repoMove, repoDelete];
