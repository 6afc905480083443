/** A provider's response proves nothing. For the log; the user is told only that it failed. */
export class UnacceptableAnswer extends Error {
  override name = "UnacceptableAnswer";
}
