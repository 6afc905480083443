import type pg from "pg";

/** The results of events in a fan-out. */
export type Marks = {
  /** All their deliveries are created. */
  done: readonly string[];
  /** There are more webhooks than were looked at; the value is the last of those. */
  begun: ReadonlyMap<string, string>;
  /** No deliveries can be created from them; the value says why. */
  unusable: ReadonlyMap<string, string>;
};

/** Records the results. Unusable events are set aside, so that they block nothing; `npm run admin -- event retry` has one tried again. */
export async function markEvents(tx: Pick<pg.ClientBase, "query">, { done, begun, unusable }: Marks): Promise<void> {
  const rows = [
    ...done.map((id) => ({ id, cursor: null, error: null })),
    ...[...begun].map(([id, cursor]) => ({ id, cursor, error: null })),
    ...[...unusable].map(([id, reason]) => ({ id, cursor: null, error: reason.replaceAll("\0", "").slice(0, 1_000) })),
  ];
  await tx.query({
    name: "mark-events",
    text: `update event e set fan_out_cursor = m.cursor, fan_out_error = m.error, fanned_out_at = case when m.cursor is null then now() end
      from unnest($1::text[], $2::text[], $3::text[]) m(id, cursor, error) where e.id = m.id and e.fanned_out_at is null`,
    values: [rows.map(({ id }) => id), rows.map(({ cursor }) => cursor), rows.map(({ error }) => error)],
  });
}
