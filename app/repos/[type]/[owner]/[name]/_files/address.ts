import type { Revision } from "#core/hub/git/read/revision.ts";
import { splitRevision } from "#core/hub/git/read/split-revision.ts";
import { decodeSegments } from "../../../../../_server/repo-page.ts";

/** What follows `tree/`, `blob/` or `commits/` in a page's address. */
export type RevisionParams = Promise<{ segments?: string[] }>;

/** The revision and the path that a page is about; an empty revision where the address ends before it. */
export async function revisionOf(params: RevisionParams): Promise<{ revision: string; path: string }> {
  return splitRevision(decodeSegments((await params).segments));
}

/** Whether a file can be changed where one looks at it: on a branch. */
export function branchOf({ ref }: Revision): string | undefined {
  return ref?.startsWith("refs/heads/") ? ref.slice("refs/heads/".length) : undefined;
}
