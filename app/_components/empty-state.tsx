import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";

type EmptyStateProps = Readonly<{
  Icon?: LucideIcon;
  title: ReactNode;
  children: ReactNode;
  action?: ReactNode;
}>;

export function EmptyState({ Icon, title, children, action }: EmptyStateProps) {
  return (
    <div className="flex flex-col items-center px-6 py-12 text-center">
      {Icon && (
        <span className="grid size-11 place-items-center rounded-card border border-line bg-sunken text-muted">
          <Icon className="size-5" aria-hidden="true" />
        </span>
      )}
      <div className="mt-4 font-medium">{title}</div>
      <div className="mt-1.5 max-w-sm text-balance text-muted text-small">{children}</div>
      {action && <div className="mt-5">{action}</div>}
    </div>
  );
}
