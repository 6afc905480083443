import type { RepoType } from "@keyhook/sdk";
import { freshName, from, type TestPerson } from "../../accounts/testing/people.ts";
import { db } from "../../db.ts";
import { changeRefs } from "../git/refs/change-refs.ts";
import { resolveRef } from "../git/refs/git-refs.ts";
import { openRepository } from "../git/repository.ts";
import { runGit } from "../git/run-git.ts";
import { createRepo, type NewRepo } from "../repos/create-repo.ts";
import type { Repo } from "../repos/repo.ts";

export async function someRepo(person: TestPerson, input: Partial<NewRepo> & { type?: RepoType } = {}): Promise<Repo> {
  return createRepo(person.actor, { type: "model", owner: person.username, name: freshName("tide"), ...input }, from);
}

const author = {
  GIT_AUTHOR_NAME: "Ada",
  GIT_AUTHOR_EMAIL: "ada@example.test",
  GIT_COMMITTER_NAME: "Ada",
  GIT_COMMITTER_EMAIL: "ada@example.test",
};

export async function commitTo(
  repo: Repo,
  person: TestPerson,
  files: Record<string, string | Buffer>,
  { branch = repo.defaultBranch, message = "Add files" } = {},
): Promise<string> {
  const path = await openRepository(repo);
  const ref = `refs/heads/${branch}`;
  const oldSha = await resolveRef(path, ref);
  const chunks: (string | Buffer)[] = [
    `commit ${ref}\ncommitter Ada <ada@example.test> ${Math.floor(Date.now() / 1000)} +0000\n`,
    `data ${Buffer.byteLength(message)}\n${message}\n`,
    oldSha ? `from ${oldSha}\n` : "",
  ];
  for (const [name, content] of Object.entries(files)) {
    chunks.push(`M 100644 inline ${JSON.stringify(name)}\ndata ${Buffer.byteLength(content)}\n`, content, "\n");
  }
  let newSha = "";
  await changeRefs(repo, person.actor, [], async () => {
    await runGit(path, ["fast-import", "--quiet"], {
      input: Buffer.concat(chunks.map((chunk) => Buffer.from(chunk))),
      env: author,
    });
    newSha = (await resolveRef(path, ref)) as string;
    return [{ ref, oldSha, newSha }];
  });
  return newSha;
}

export async function unfoldingRepo(person: TestPerson): Promise<Repo> {
  const repo = await someRepo(person);
  const path = await openRepository(repo);
  let oid = (await runGit(path, ["hash-object", "-w", "--stdin"], { input: "x" })).toString().trim();
  for (let level = 0; level < 10; level++) {
    const mode = level === 0 ? "100644 blob" : "040000 tree";
    const lines = Array.from({ length: 10 }, (_, at) => `${mode} ${oid}\t${at}\n`).join("");
    oid = (await runGit(path, ["mktree"], { input: lines })).toString().trim();
  }
  const sha = (await runGit(path, ["commit-tree", oid, "-m", "unfold"], { env: author })).toString().trim();
  await runGit(path, ["update-ref", "refs/heads/main", sha]);
  return repo;
}

export async function eventsOf(repo: Pick<Repo, "id">): Promise<{ scope: string; action: string; payload: unknown }[]> {
  return db().event.findMany({
    where: { repoId: repo.id },
    orderBy: [{ createdAt: "asc" }, { id: "asc" }],
    select: { scope: true, action: true, payload: true },
  });
}

export async function fsck(repo: Repo): Promise<void> {
  await runGit(await openRepository(repo), ["fsck", "--full", "--strict", "--no-dangling"]);
}
