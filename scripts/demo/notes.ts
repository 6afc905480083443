import { randomInt } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What the demo has made so far, by the name it goes under here; a second run makes only what is missing. */
export type Made = {
  password: string;
  people: Record<string, true>;
  organizations: Record<string, { id: string; fullName: string }>;
  members: Record<string, true>;
  apps: Record<string, { clientId: string; clientSecret?: string }>;
  /** Repositories, and what else is kept on the hub. Notes of an earlier version have none. */
  repos?: Record<string, true>;
  /** Likewise. */
  webhooks?: Record<string, true>;
  webhookSecret?: string;
  /** Of the Space that receives webhooks. */
  spaceSecret?: string;
};

export type Notes = { made: Made; save(): void; forget(): void };

/** Reads `demo.json` in the data directory. It holds a client secret and the samples' password: mode 600. */
export function readNotes(dataDir: string): Notes {
  const path = join(dataDir, "demo.json");
  const notes: Notes = {
    made: read(path) ?? fresh(),
    save() {
      mkdirSync(dataDir, { recursive: true });
      // Written beside and renamed, so that a stop in between leaves the old notes whole.
      writeFileSync(`${path}.new`, `${JSON.stringify(notes.made, null, 2)}\n`, { mode: 0o600 });
      renameSync(`${path}.new`, path);
    },
    forget() {
      notes.made = { ...fresh(), password: notes.made.password };
    },
  };
  return notes;
}

function read(path: string): Made | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new Error(`${path} cannot be read; remove it or the whole directory to begin afresh.`, { cause: error });
  }
}

function fresh(): Made {
  return { password: randomPassword(), people: {}, organizations: {}, members: {}, apps: {}, repos: {} };
}

// Made anew for each data directory, since the demo may be reachable from the network: sixty bits, easy to type.
function randomPassword(): string {
  const symbols = "abcdefghijkmnpqrstuvwxyz23456789";
  const group = () => Array.from({ length: 4 }, () => symbols[randomInt(symbols.length)]).join("");
  return [group(), group(), group()].join("-");
}
