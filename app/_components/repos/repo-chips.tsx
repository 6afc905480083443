import type { Repo } from "#core/hub/repos/repo.ts";
import { Chip } from "../chip.tsx";

/** Who may read it and whether it can be changed, where that is not what one expects. */
export function RepoChips({ repo }: Readonly<{ repo: Pick<Repo, "isPrivate" | "gated" | "isReadOnly" | "sdk" | "type"> }>) {
  return (
    <>
      {repo.isPrivate && <Chip>Private</Chip>}
      {repo.gated !== "none" && <Chip tone="warn">Gated</Chip>}
      {repo.isReadOnly && <Chip>Read-only</Chip>}
      {repo.type === "space" && repo.sdk && <Chip>{repo.sdk}</Chip>}
    </>
  );
}
