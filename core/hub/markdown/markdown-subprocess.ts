import { parentPort } from "node:worker_threads";
import { common, createLowlight } from "lowlight";
import type { ToLayOut } from "./lay-out.ts";
import { toSafeTree } from "./to-safe-tree.ts";

const lowlight = createLowlight(common);

/** Lays texts out beside the process that serves people (render-markdown.ts). */
parentPort?.on("message", (asked: ToLayOut) => {
  parentPort?.postMessage(outcomeOf(asked));
});
parentPort?.postMessage("ready");

function outcomeOf(asked: ToLayOut): unknown {
  try {
    return "code" in asked ? lowlight.highlight(asked.language, asked.code) : toSafeTree(asked.text, asked.place);
  } catch {
    // Too deep for the stack, or too large to be drawn.
    return null;
  }
}
