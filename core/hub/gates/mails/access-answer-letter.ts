import { repoPath } from "@keyhook/sdk";
import { type Letter, letter, link } from "../../../accounts/mails/letter.ts";
import type { Repo } from "../../repos/repo.ts";

type Answered = {
  greeted: string;
  repo: Pick<Repo, "type" | "fullName">;
  answer: "accepted" | "rejected" | "granted";
  reason?: string | null;
};

/** To a user who asked for access to a gated repository, or was given it without asking. */
export function accessAnswerLetter({ greeted, repo, answer, reason }: Answered): Letter {
  const { fullName, type } = repo;
  const address = link(repoPath(type, fullName));
  if (answer === "rejected") {
    return letter(`Your request for access to ${fullName} was rejected`, greeted, [
      `those who manage the ${type} ${fullName} have rejected your request to read it.`,
      ...(reason ? [`They write: ${reason}`] : []),
      address,
    ]);
  }
  const opening = answer === "granted" ? "you were given access to" : "your request was accepted: you may read";
  return letter(`You have access to ${fullName}`, greeted, [`${opening} the ${type} ${fullName} now.`, address]);
}
