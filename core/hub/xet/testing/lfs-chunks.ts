import { claimRows } from "../../../postgres/leased-table.ts";
import { chunkLfsObject, type DueChunking, lfsChunkingTable } from "../chunk-lfs-object.ts";
import { ContentSplitter } from "../split-content.ts";

/**
 * Runs the worker's step until nothing is due.
 * @returns the owners in the order of their turns
 */
export async function chunkDueFiles(): Promise<string[]> {
  const owners: string[] = [];
  for (;;) {
    const { claimId, rows } = await claimRows<DueChunking>(lfsChunkingTable, 1);
    const [row] = rows;
    if (!row) return owners;
    owners.push(row.id);
    await chunkLfsObject(row, claimId);
  }
}

export function chunksOf(content: Buffer): Buffer[] {
  const splitter = new ContentSplitter();
  const chunks: Buffer[] = [];
  for (const chunk of splitter.push(content)) chunks.push(Buffer.from(chunk));
  const last = splitter.end();
  return last ? [...chunks, Buffer.from(last)] : chunks;
}
