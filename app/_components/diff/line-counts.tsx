const number = new Intl.NumberFormat("en");

/** How many lines came and went. */
export function LineCounts({ additions, deletions }: Readonly<{ additions: number; deletions: number }>) {
  return (
    <span className="whitespace-nowrap font-mono text-fine">
      <span className="text-good">
        <span aria-hidden="true">+{number.format(additions)}</span>
        <span className="sr-only">{number.format(additions)} lines added, </span>
      </span>{" "}
      <span className="text-bad">
        <span aria-hidden="true">−{number.format(deletions)}</span>
        <span className="sr-only">{number.format(deletions)} lines deleted</span>
      </span>
    </span>
  );
}
