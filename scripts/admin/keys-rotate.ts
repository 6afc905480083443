import { PUBLISH_AHEAD_SECONDS, rotateSigningKeys } from "#core/oauth/keys.ts";
import { command } from "./command.ts";

export const keysRotate = command({
  name: "keys rotate",
  summary: "Makes new keys for signing ID tokens. The old ones stay published until all they signed has expired.",
  notes: [
    `The new keys are published at once and sign from ${PUBLISH_AHEAD_SECONDS / 60} minutes later, when everybody has fetched them. After a leak,`,
    "--now signs with them at once and withdraws the old ones.",
  ],
  options: { now: { help: "sign with the new keys at once and withdraw the old ones" } },
  async run({ now }) {
    const { kids, activeAt } = await rotateSigningKeys({ isImmediate: now });
    return {
      json: { kids, active_at: activeAt.toISOString() },
      text: `New keys sign ${now ? "from now on" : `from ${activeAt.toISOString()} on`}: ${kids.join(", ")}`,
    };
  },
});
