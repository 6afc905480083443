import type { RepoType } from "@keyhook/sdk";
import { Box, Database, LayoutGrid, type LucideIcon } from "lucide-react";

const looks: Record<RepoType, { Icon: LucideIcon; word: string }> = {
  model: { Icon: Box, word: "Model" },
  dataset: { Icon: Database, word: "Dataset" },
  space: { Icon: LayoutGrid, word: "Space" },
};

export const wordOfType = (type: RepoType): string => looks[type].word;

/** What kind of repository it is, beside the word for it. */
export function RepoIcon({ type }: Readonly<{ type: RepoType }>) {
  const { Icon } = looks[type];
  return <Icon className="size-4.5 shrink-0 self-start mt-0.5 text-muted" aria-hidden="true" />;
}
