import type { RepoType } from "@keyhook/sdk";
import { Box, Database, LayoutGrid, type LucideIcon } from "lucide-react";

/** The name and the icon of each type of repository. */
export const repoTypeLooks: Record<RepoType, Readonly<{ Icon: LucideIcon; word: string; words: string }>> = {
  model: { Icon: Box, word: "Model", words: "Models" },
  dataset: { Icon: Database, word: "Dataset", words: "Datasets" },
  space: { Icon: LayoutGrid, word: "Space", words: "Spaces" },
};
