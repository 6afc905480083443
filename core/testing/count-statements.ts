import pg from "pg";
import { flushUsage } from "../oauth/apps/count-usage.ts";

export async function countStatements<T>(run: () => Promise<T>): Promise<{ result: T; statements: number }> {
  // Usage is written some seconds later, which must not happen during the count.
  await flushUsage();
  let statements = 0;
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function counted(this: pg.Client, ...args: unknown[]) {
    statements += 1;
    return Reflect.apply(query, this, args);
  } as typeof query;
  try {
    return { result: await run(), statements };
  } finally {
    pg.Client.prototype.query = query;
  }
}
