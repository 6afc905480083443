export type AuditAddress = Readonly<{ search?: string; kind?: string; days?: string; before?: string; after?: string }>;

/** A page of the log with what is looked for in its address. */
export function auditPath(base: string, { search, kind, days, before, after }: AuditAddress = {}): string {
  const given = Object.entries({ search, kind, days, before, after }).filter(([, value]) => value);
  const query = new URLSearchParams(given as [string, string][]).toString();
  return query ? `${base}?${query}` : base;
}
