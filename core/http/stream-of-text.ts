/** Text generated piece by piece as the body of a response: the next piece is made once the last was taken. */
export function streamOfText(pieces: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    // The client left before the end: nothing more is read for it.
    async cancel() {
      await pieces.return(undefined);
    },
  });
}
