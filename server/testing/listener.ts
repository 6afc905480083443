import { createClient, listenToRelay } from "@keyhook/sdk";

/** The response is the process's ID. If the fourth argument is `hold`, there is no response. */
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
