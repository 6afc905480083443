import { describeScope, type Scope } from "@keyhook/sdk";
import { Chip } from "../chip.tsx";

const dangers: Partial<Record<Scope, string>> = {
  "manage-repos": "Can delete",
  jobs: "Can cost you",
  "write-discussions": "Speaks for you",
};

/** The mark of a scope that acts in the person's name or destroys; nothing for the others. */
export function ScopeDanger({ scope }: Readonly<{ scope: Scope }>) {
  return describeScope(scope).isDangerous ? <Chip tone="warn">{dangers[scope] ?? "Far-reaching"}</Chip> : null;
}
