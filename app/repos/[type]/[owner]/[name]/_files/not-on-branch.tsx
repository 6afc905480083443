import { isOnBranch } from "#core/hub/git/read/is-on-branch.ts";
import type { Revision } from "#core/hub/git/read/revision.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { FormMessage } from "../../../../../_components/form-message.tsx";

type Props = Readonly<{ repo: Repo; revision: Pick<Revision, "ref" | "sha"> }>;

/** Says of a commit, shown by its SHA, that it need not be the owner's: it is on no branch or tag. */
export async function NotOnBranch({ repo, revision }: Props) {
  if (await isOnBranch(repo, revision)) return null;
  return (
    <FormMessage tone="warn">
      This commit is not on any branch or tag of {repo.fullName}. Anyone who can open a pull request could have pushed it.
    </FormMessage>
  );
}
