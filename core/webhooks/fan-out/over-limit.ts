/**
 * Users who may not write to the repository can use at most a quarter of a webhook's triggers, so that nobody can mute it for its owner.
 */
export const outsidersPart = (limit: number): number => Math.max(1, Math.floor(limit / 4));

/**
 * How many triggers over the limit are kept as deliveries in 24 hours. The others are only counted: otherwise each event of an account
 * would leave a row at each of its webhooks for a month, and no quota counts these rows (S137).
 */
export const keptOverLimit = (limit: number): number => limit;

/** The counts of a webhook's triggers in 24 hours, including the new ones. */
export type Triggers = { triggered: number; byOutsiders: number };

/**
 * Returns the new triggers of a webhook that exceed its limit (S127, S131), which are the latest ones. The counts also include triggers
 * that this worker or another one will record as `rate_limited`, which takes them back out of the counts. Until then, the triggers by
 * which outsiders exceed their part do not use up the limit for the other triggers.
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

/** @returns how many of the excess triggers other leases have counted and will record */
export function excessOfOthers(own: readonly unknown[], counts: Triggers, limit: number): number {
  const { byOutsiders, others } = excessOf(counts, limit);
  return byOutsiders + others - own.length;
}

function excessOf({ triggered, byOutsiders }: Triggers, limit: number): { byOutsiders: number; others: number } {
  const beyondPart = Math.max(0, byOutsiders - outsidersPart(limit));
  return { byOutsiders: beyondPart, others: Math.max(0, triggered - beyondPart - limit) };
}

const last = <Trigger>(all: readonly Trigger[], count: number): readonly Trigger[] => (count > 0 ? all.slice(-count) : []);
