import { parentPort } from "node:worker_threads";
import type { MarkdownPlace } from "./place.ts";
import { toSafeTree } from "./to-safe-tree.ts";

/** Lays texts out beside the process that serves people (render-markdown.ts). */
parentPort?.on("message", ({ text, place }: { text: string; place: MarkdownPlace }) => {
  parentPort?.postMessage(outcomeOf(text, place));
});
parentPort?.postMessage("ready");

function outcomeOf(text: string, place: MarkdownPlace): unknown {
  try {
    return toSafeTree(text, place);
  } catch {
    // Too deep for the stack, or too large to be drawn.
    return null;
  }
}
