import { repoPath } from "@keyhook/sdk";
import { type Letter, letter, link } from "../../../accounts/mails/letter.ts";
import type { Repo } from "../../repos/repo.ts";

type Asked = {
  greeted: string;
  asker: { username: string; email: string };
  repo: Pick<Repo, "type" | "fullName">;
  message: string | null;
};

/** To those who decide about access to a repository. */
export function askedForAccessLetter({ greeted, asker, repo, message }: Asked): Letter {
  return letter(`${asker.username} asks for access to ${repo.fullName}`, greeted, [
    `${asker.username} (${asker.email}) asks to read the ${repo.type} ${repo.fullName}. Accept or reject the request here:`,
    link(`${repoPath(repo.type, repo.fullName)}/settings/access`),
    ...(message ? [`They write:\n\n${quoted(message)}`] : []),
  ]);
}

/** Quoted, so that nobody takes a stranger's words for ours. */
const quoted = (text: string): string => text.replace(/\r\n?/g, "\n").replace(/^/gm, "> ");
