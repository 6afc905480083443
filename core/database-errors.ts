export const LOCK_TIMEOUT = "55P03";

export const UNIQUE_VIOLATION = "23505";

/** The statement took longer than `statement_timeout`. */
export const QUERY_CANCELED = "57014";

/** A standby refused a change. */
export const READ_ONLY = "25006";

/** Also the code of "cached plan must not change result type". */
export const CHANGED_RESULT = "0A000";

const DOWN = new Set<unknown>([
  LOCK_TIMEOUT,
  READ_ONLY,
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "57P01",
  "57P02",
  "57P03",
  "08006",
  "08001",
  "08003",
  // PgBouncer uses this code for all of its errors.
  "08P01",
  "53300",
  "P1001",
  "P1002",
  "P1017",
]);

export function databaseCodes(error: unknown): unknown[] {
  const codes: unknown[] = [];
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    const { code, cause } = at as { code?: unknown; cause?: { originalCode?: unknown } };
    const meta = (at as { meta?: { driverAdapterError?: { cause?: { originalCode?: unknown } } } }).meta;
    codes.push(code, cause?.originalCode, meta?.driverAdapterError?.cause?.originalCode);
  }
  return codes.filter((code) => code !== undefined);
}

/**
 * Messages of pg, its pool and Prisma. A server that stops removes its Unix socket. The last message means that no connection was
 * free in time.
 */
const DOWN_MESSAGE =
  /connect ENOENT .*\.s\.PGSQL\.|timeout exceeded when trying to connect|Connection terminated|Can't reach database server|the database system is|Unable to start a transaction in the given time/i;

export function isDatabaseDown(error: unknown): boolean {
  if (databaseCodes(error).some((code) => DOWN.has(code))) return true;
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    if (DOWN_MESSAGE.test(at.message)) return true;
    if ("errors" in at && Array.isArray(at.errors) && at.errors.some(isDatabaseDown)) return true;
  }
  return false;
}
