import { env } from "#core/env.ts";
import { isKeyGenerated, previousKeyFile, replaceKeyFile } from "#core/instance/data-dir.ts";
import { rotateSecretKey } from "#core/instance/rotate-secret-key.ts";
import { PUBLISH_AHEAD_SECONDS, rotateSigningKeys } from "#core/oauth/signing-keys.ts";
import { command } from "./command.ts";

export const keysRotate = command({
  name: "keys rotate",
  summary: "Creates new keys for signing ID tokens. The old ones stay published until everything signed with them has expired.",
  notes: [
    `The new keys are published at once and used ${PUBLISH_AHEAD_SECONDS / 60} minutes later, when all clients have fetched them. After a leak,`,
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

export const secretsRotate = command({
  name: "secrets rotate",
  summary: "Encrypts all stored secrets with a new SECRET_KEY, while the service runs. docs/operations.md has the steps (Keys).",
  notes: [
    "With a SECRET_KEY of your own: set SECRET_KEY_PREVIOUS to it and SECRET_KEY to a new one, restart, and run this. With the key in DATA_DIR,",
    "run this twice: the first run replaces the key's file, and the second, after a restart, encrypts. It can be stopped and run again.",
  ],
  options: {},
  async run() {
    const { DATA_DIR, SECRET_KEY_PREVIOUS } = env();
    const isGenerated = isKeyGenerated(DATA_DIR);
    if (isGenerated && !SECRET_KEY_PREVIOUS) {
      replaceKeyFile(DATA_DIR);
      return {
        json: { key: "replaced" },
        text: `A new key is in ${DATA_DIR}/secret-key. Restart the service, and run this command again to encrypt everything with it.`,
      };
    }
    const { resealed, unreadable } = await rotateSecretKey();
    const place = isGenerated ? `delete ${previousKeyFile(DATA_DIR)}` : "remove SECRET_KEY_PREVIOUS from the settings";
    return {
      json: { key: "rotated", encrypted: resealed, unreadable },
      text: [
        ...Object.entries(resealed).map(([purpose, count]) => `${purpose}\t${count}`),
        "All stored secrets that could be decrypted are encrypted with the new key.",
        unreadable > 0 && `Left unchanged, because neither key decrypts them: ${unreadable}.`,
        `Once you no longer need the links that the previous key signed (docs/operations.md, Keys, lists them), ${place} and restart.`,
      ]
        .filter(Boolean)
        .join("\n"),
    };
  },
});
