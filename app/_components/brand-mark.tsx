type BrandMarkProps = Readonly<{ className?: string }>;

/** Decorative, because the brand's name is beside the mark. */
export function BrandMark({ className = "size-5" }: BrandMarkProps) {
  return (
    <svg
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="2"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      className={className}
    >
      <circle cx="14.25" cy="6" r="3.5" />
      <path d="M14.25 9.5v8a4 4 0 0 1-8 0v-2.25l-1.75 1.75" />
      <path d="M14.25 13.25h3.5" />
    </svg>
  );
}
