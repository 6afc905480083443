import { launch, webhook } from "@keyhook/receiver";

webhook(function onChange({ event, repo }, { id }) {
  console.log(`${event.scope} ${event.action}: ${repo.type} ${repo.name} (${id})`);
});

/** Responds as a receiver in maintenance does, to show how the service retries. */
webhook("maintenance", () => new Response("Closed for maintenance.\n", { status: 503, headers: { "retry-after": "30" } }));

await launch({ relay: process.env.RELAY === "1" });
