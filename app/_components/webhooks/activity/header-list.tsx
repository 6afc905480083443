export type HeaderListProps = Readonly<{ headers: Readonly<Record<string, string>>; label: string }>;

/** Headers of HTTP, each on its line. */
export function HeaderList({ headers, label }: HeaderListProps) {
  const entries = Object.entries(headers);
  if (entries.length === 0) return <p className="text-muted text-small">None.</p>;
  return (
    <dl aria-label={label} className="grid gap-y-1 font-mono text-fine">
      {entries.map(([name, value]) => (
        <div key={name} className="break-all">
          <dt className="inline text-muted">{name}: </dt>
          <dd className="inline">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
