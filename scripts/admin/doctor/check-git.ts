import { checkGit } from "#core/hub/git/check-git.ts";
import { type Finding, findings, reason } from "./finding.ts";

const report = findings("git");

/** What keeps the repositories' content. */
export async function checkGitProgram(): Promise<Finding[]> {
  try {
    return [report.ok(`version ${await checkGit()}`)];
  } catch (error) {
    return [report.fail(reason(error), "The service does not start without it.")];
  }
}
