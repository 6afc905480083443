/** Outsiders get only a quarter, so that users who may not write cannot mute a webhook for its owner. */
export const outsidersPart = (limit: number): number => Math.max(1, Math.floor(limit / 4));

/** Only this many triggers over the limit are stored, because no quota covers the rows (S137). */
export const keptOverLimit = (limit: number): number => limit;

/** The counts are for 24 hours, and include the new triggers. */
export type Triggers = { triggered: number; byOutsiders: number };

/**
 * Returns the latest triggers, which exceed the limit (S127, S131). Outsiders' excess triggers do not use up the limit of the
 * others, even before they are recorded as `rate_limited`.
 */
export function overLimit<Trigger extends { isByOutsider: boolean }>(
  all: readonly Trigger[],
  { triggered, byOutsiders }: Triggers,
  limit: number,
): Trigger[] {
  const excess = excessOf({ triggered, byOutsiders }, limit);
  const beyondPart = last(
    all.filter(({ isByOutsider }) => isByOutsider),
    excess.byOutsiders,
  );
  const others = all.filter((trigger) => !beyondPart.includes(trigger));
  return [...beyondPart, ...last(others, excess.others)];
}

export function excessBesides(own: readonly unknown[], counts: Triggers, limit: number): number {
  const { byOutsiders, others } = excessOf(counts, limit);
  return byOutsiders + others - own.length;
}

function excessOf({ triggered, byOutsiders }: Triggers, limit: number): { byOutsiders: number; others: number } {
  const beyondPart = Math.max(0, byOutsiders - outsidersPart(limit));
  return { byOutsiders: beyondPart, others: Math.max(0, triggered - beyondPart - limit) };
}

const last = <Trigger>(all: readonly Trigger[], count: number): readonly Trigger[] => (count > 0 ? all.slice(-count) : []);
