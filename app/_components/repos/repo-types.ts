import type { RepoType } from "@keyhook/sdk";
import { Box, Database, LayoutGrid, type LucideIcon } from "lucide-react";

/** How each type of repository is called and drawn. */
export const repoTypeLooks: Record<RepoType, Readonly<{ Icon: LucideIcon; word: string; words: string }>> = {
  model: { Icon: Box, word: "Model", words: "Models" },
  dataset: { Icon: Database, word: "Dataset", words: "Datasets" },
  space: { Icon: LayoutGrid, word: "Space", words: "Spaces" },
};
