import { createClient, listenToRelay } from "@keyhook/sdk";

/** A listener that is a process of its own. It answers with its name, or, told to hold, never; and says what it was given. */
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
