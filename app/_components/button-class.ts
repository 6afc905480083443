import { classNames } from "./class-names.ts";

const variants = {
  /** A page has at most one primary button. */
  primary: "border-action bg-action text-on-action hover:border-action-hover hover:bg-action-hover",
  secondary: "border-line bg-surface text-ink hover:bg-sunken",
  danger: "border-line bg-surface text-bad hover:border-bad hover:bg-bad-soft",
  destroy: "border-bad bg-bad text-on-bad hover:opacity-90",
  quiet: "border-transparent bg-transparent text-muted hover:bg-sunken hover:text-ink",
} as const;

const sizes = {
  medium: "h-10 gap-2 px-4 text-body",
  small: "h-8 gap-1.5 px-3 text-small",
  /** Buttons of this size need an `aria-label`. */
  icon: "size-8 shrink-0",
} as const;

export type ButtonLook = Readonly<{
  variant?: keyof typeof variants;
  size?: keyof typeof sizes;
  isWide?: boolean;
}>;

export function buttonClass({ variant = "secondary", size = "medium", isWide }: ButtonLook, className?: string): string {
  return classNames(
    "inline-flex select-none items-center justify-center whitespace-nowrap rounded-control border font-medium motion-safe:transition-colors",
    "disabled:cursor-not-allowed disabled:opacity-60 aria-disabled:cursor-progress",
    variants[variant],
    sizes[size],
    isWide && "w-full",
    className,
  );
}
