import { launch, webhook } from "@keyhook/receiver";

webhook(function onChange({ event, repo }, { id }) {
  if (process.env.QUIET !== "1") console.log(`${event.scope} ${event.action}: ${repo.type} ${repo.name} (${id})`);
});

/** Closed for maintenance, to see what the service does about that. */
webhook("maintenance", () => new Response("Closed for maintenance.\n", { status: 503, headers: { "retry-after": "30" } }));

await launch({ ...(process.env.QUIET === "1" && { print: () => undefined }), relay: process.env.RELAY === "1" });
