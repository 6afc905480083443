import type { RepoType } from "@keyhook/sdk";
import { Box, Database, LayoutGrid, type LucideIcon } from "lucide-react";

export const repoTypeLooks: Record<RepoType, Readonly<{ Icon: LucideIcon; word: string; words: string }>> = {
  model: { Icon: Box, word: "Model", words: "Models" },
  dataset: { Icon: Database, word: "Dataset", words: "Datasets" },
  space: { Icon: LayoutGrid, word: "Space", words: "Spaces" },
};
