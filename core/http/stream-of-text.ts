/** Text that is made piece by piece, as the body of an answer: the next piece is made once the last was taken. */
export function streamOfText(pieces: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    // Whoever goes away before the end: nothing more is read for them.
    async cancel() {
      await pieces.return(undefined);
    },
  });
}
