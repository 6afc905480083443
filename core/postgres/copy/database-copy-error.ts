/** Thrown when a database cannot be copied there or from there; its message is meant for the operator's terminal. */
export class DatabaseCopyError extends Error {
  override name = "DatabaseCopyError";
}
