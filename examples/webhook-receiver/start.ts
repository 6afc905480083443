import { createReceiver } from "./receiver.ts";

const secret = process.env.WEBHOOK_SECRET;
if (!secret) throw new Error("Set WEBHOOK_SECRET to the webhook's secret; README.md says where it is.");
const port = Number(process.env.PORT ?? 8080);
const isQuiet = process.env.QUIET === "1";

createReceiver({
  secret,
  receive({ event, repo }, id) {
    if (!isQuiet) console.log(`${event.scope} ${event.action}: ${repo.type} ${repo.name} (${id})`);
  },
}).listen(port, "127.0.0.1", () => isQuiet || console.log(`Receives deliveries at http://127.0.0.1:${port}/`));
