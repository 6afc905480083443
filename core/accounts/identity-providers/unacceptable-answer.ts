/** A provider answered with something that proves nothing. For the log; the person is told only that it did not work. */
export class UnacceptableAnswer extends Error {
  override name = "UnacceptableAnswer";
}
