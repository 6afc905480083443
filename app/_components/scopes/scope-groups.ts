import type { ScopeGroup } from "@keyhook/sdk";

/** What scopes are sorted under wherever they are listed for people, in this order. */
export const scopeGroups: ReadonlyArray<Readonly<{ group: ScopeGroup; label: string }>> = [
  { group: "identity", label: "Who you are" },
  { group: "read", label: "Read" },
  { group: "write", label: "Write" },
  { group: "act", label: "Act for you" },
];
