import { createClient, listenToRelay } from "@keyhook/sdk";

/**
 * A listener in a process of its own. It responds with its process's id, or not at all if its fourth argument is `hold`, and reports the
 * paths that were requested.
 */
const [baseUrl = "", token = "", name = "", holds] = process.argv.slice(2);
await listenToRelay(createClient({ baseUrl, token }), {
  name,
  onState: (state) => process.send?.(state.kind),
  handle: async ({ path }) => {
    process.send?.(path);
    if (holds === "hold") await new Promise(() => setInterval(() => undefined, 1_000));
    return { status: 200, body: `${process.pid}` };
  },
});
