import { describeScope, type Scope, type ScopeGroup } from "@keyhook/sdk";
import {
  BookOpen,
  CircleUserRound,
  Cpu,
  CreditCard,
  FileKey,
  FilePen,
  FolderCog,
  FolderPlus,
  IdCard,
  Library,
  LibraryBig,
  type LucideIcon,
  Mail,
  MessagesSquare,
  Sparkles,
  Webhook,
} from "lucide-react";
import { Chip } from "./chip.tsx";

export const scopeIcons: Record<Scope, LucideIcon> = {
  openid: IdCard,
  profile: CircleUserRound,
  email: Mail,
  "read-billing": CreditCard,
  "read-repos": BookOpen,
  "gated-repos": FileKey,
  "read-collections": Library,
  "contribute-repos": FolderPlus,
  "write-repos": FilePen,
  "manage-repos": FolderCog,
  "write-collections": LibraryBig,
  "inference-api": Sparkles,
  jobs: Cpu,
  webhooks: Webhook,
  "write-discussions": MessagesSquare,
};

export const scopeGroups: ReadonlyArray<Readonly<{ group: ScopeGroup; label: string }>> = [
  { group: "identity", label: "Who you are" },
  { group: "read", label: "Read" },
  { group: "write", label: "Write" },
  { group: "act", label: "Act for you" },
];

const dangers: Partial<Record<Scope, string>> = {
  "manage-repos": "Can delete",
  jobs: "Runs code as you",
  "write-discussions": "Posts as you",
};

export function ScopeDanger({ scope }: Readonly<{ scope: Scope }>) {
  return describeScope(scope).isDangerous ? <Chip tone="warn">{dangers[scope] ?? "Far-reaching"}</Chip> : null;
}
