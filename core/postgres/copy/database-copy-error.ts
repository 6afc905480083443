/** Thrown if a database cannot be copied from or to; its message is for the operator's terminal. */
export class DatabaseCopyError extends Error {
  override name = "DatabaseCopyError";
}
