import { dirname, join } from "node:path";
import { startDemo } from "./demo.ts";

/** All specs share one demo, and each creates its own users. */
export default async function globalSetup(): Promise<() => Promise<void>> {
  const { demo, stop } = await startDemo();
  process.env.KEYHOOK_E2E_DEMO = JSON.stringify(demo);
  process.env.KEYHOOK_E2E_LOOKS = join(dirname(demo.environment.DATA_DIR ?? ""), "decided-looks");
  return stop;
}
