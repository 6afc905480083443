import { type Actor, anonymous, operatorCommand } from "../../access/actor.ts";
import { may } from "../../access/may.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import { findRepo } from "../../hub/repos/find-repo.ts";
import { type Repo, repoResource } from "../../hub/repos/repo.ts";
import { CannotLayOut, layOutFiles } from "./lay-out-files.ts";

type Owner = { kind: "user" | "organization"; id: string };

/**
 * Puts the files of a Space, from its current default branch, into an empty directory, for a job whose owner may read them now (a user what
 * they may read, an organization its own and public ones), and whose starter, a user or a token, may too.
 * @param space `owner/name`
 * @param note receives notes on what was left out, in sentences
 * @throws ServiceError `not_found`, the same if it does not exist (S136); `invalid_request` if it cannot be run; when the signal is aborted
 */
export async function takeSpaceFiles(
  space: string,
  { owner, delegate }: { owner: Owner; delegate: Actor | undefined },
  directory: string,
  { note, signal }: { note: (sentence: string) => void; signal: AbortSignal },
): Promise<void> {
  const [handle = "", name = ""] = space.split("/");
  const repo = await findRepo(operatorCommand, { type: "space", owner: handle, name }).catch((error: unknown) => {
    if (isServiceError(error)) return undefined;
    throw error;
  });
  const mayHave =
    repo && delegate && (await mayRead(owner, repo)) && (await may(delegate, "repo.read_content", repoResource(repo)));
  if (!mayHave) {
    const sentence = `The Space ${space} is not there, or the job's owner or whoever started the job may not read it.`;
    throw new ServiceError("not_found", sentence);
  }
  if (repo.headSha === null) throw new ServiceError("invalid_request", `The Space ${space} has no files yet.`);
  try {
    await layOutFiles(repo, repo.headSha, directory, { note, signal });
  } catch (error) {
    if (!(error instanceof CannotLayOut)) throw error;
    throw new ServiceError("invalid_request", error.message, { cause: error });
  }
}

async function mayRead(owner: Owner, repo: Repo): Promise<boolean> {
  if (repo.owner.id === owner.id) return true;
  // As the user themselves, who needs no recent authentication for reading.
  const reader: Actor =
    owner.kind === "user"
      ? { kind: "person", userId: owner.id, isOperator: false, sessionId: "", authenticatedAt: new Date(0) }
      : anonymous;
  return may(reader, "repo.read_content", repoResource(repo));
}
