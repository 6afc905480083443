/** The engine's streams of a container's output: frames with a kind, a length and bytes (application/vnd.docker.multiplexed-stream). */
const HEADER_BYTES = 8;
const KINDS = ["stdin", "stdout", "stderr"] as const;

export type Frame = { stream: "stdout" | "stderr"; bytes: Buffer };

/** Yields output in the pieces in which it arrives: a frame may be of any length, and is never buffered whole. */
export async function* framesOf(source: AsyncIterable<Buffer>): AsyncGenerator<Frame> {
  let rest: Buffer = Buffer.alloc(0);
  let current: { stream: Frame["stream"] | undefined; left: number } | undefined;
  for await (const chunk of source) {
    rest = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    for (;;) {
      if (!current) {
        if (rest.length < HEADER_BYTES) break;
        const kind = KINDS[rest[0] ?? 0];
        current = { stream: kind === "stdin" ? undefined : kind, left: rest.readUInt32BE(4) };
        rest = rest.subarray(HEADER_BYTES);
      }
      const bytes = rest.subarray(0, current.left);
      rest = rest.subarray(bytes.length);
      current.left -= bytes.length;
      if (bytes.length > 0 && current.stream) yield { stream: current.stream, bytes };
      if (current.left > 0) break;
      current = undefined;
    }
  }
}
