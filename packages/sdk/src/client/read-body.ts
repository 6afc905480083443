/**
 * The text of a body, up to `limit` bytes of it.
 * @returns `isCut` where there was more: the rest is not waited for
 */
export async function readText(response: Response, limit: number): Promise<{ text: string; isCut: boolean }> {
  const reader = response.body?.getReader();
  if (!reader) return { text: await response.text(), isCut: false };
  const decoder = new TextDecoder();
  const pieces: string[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.byteLength;
    if (bytes > limit) {
      // Not waited for: a server that goes on sending may also never say that it has stopped.
      reader.cancel().catch(() => undefined);
      return { text: pieces.join(""), isCut: true };
    }
    pieces.push(decoder.decode(value, { stream: true }));
  }
  return { text: pieces.join("") + decoder.decode(), isCut: false };
}
