import type { Made, Notes } from "./notes.ts";
import { AdminError, runAdmin } from "./run-admin.ts";
import { organizations, type Ports, people, sampleApps } from "./samples.ts";

/**
 * Makes the sample people, their organizations and the two OAuth apps, each through the operator command. What an earlier run
 * made is taken from the notes, so that running it again, also after a run that was cut short, changes nothing.
 */
export async function seed(notes: Notes, ports: Ports): Promise<Made> {
  // Kept before the first account is made with it.
  notes.save();
  await forgetIfDatabaseIsNew(notes);
  for (const person of people) {
    await once(notes, "people", person.username, async () => {
      await makePerson(person, notes.made.password);
      return true;
    });
  }
  for (const { name, owner, members } of organizations) {
    await once(notes, "organizations", name, () => runAdmin<{ id: string }>("org", "create", "--name", name, "--owner", owner));
    for (const { username, role } of members) {
      await once(notes, "members", `${name}/${username}`, async () => {
        await runAdmin("org", "add-member", "--org", name, "--user", username, "--role", role);
        return true;
      });
    }
  }
  // By address as well: on another port it is another site.
  for (const { key, args } of sampleApps(ports)) {
    await once(notes, "apps", key, async () => {
      const app = await runAdmin<{ client_id: string; client_secret?: string }>("app", "create", ...args);
      return { clientId: app.client_id, clientSecret: app.client_secret };
    });
  }
  return notes.made;
}

type Kind = Exclude<keyof Made, "password">;

/** Makes a thing unless the notes have it, and notes it at once. */
async function once<K extends Kind>(
  { made, save }: Notes,
  kind: K,
  key: string,
  make: () => Promise<Made[K][string]>,
): Promise<void> {
  const known = made[kind] as Record<string, Made[K][string]>;
  if (known[key]) return;
  known[key] = await make().catch((error: unknown) => {
    if (!(error instanceof AdminError) || error.code !== "conflict") throw error;
    throw new Error(
      `${error.message}. Made by somebody else, or by a demo that was cut short: begin afresh in another DATA_DIR.`,
    );
  });
  save();
}

async function makePerson({ username, email, isOperator }: (typeof people)[number], password: string): Promise<void> {
  const account = ["--username", username, "--email", email, "--password", password];
  await runAdmin("user", "create", ...account, ...(isOperator ? ["--operator"] : []));
}

/** With DATABASE_URL the database may have been replaced while the notes stayed: then they speak of what is gone. */
async function forgetIfDatabaseIsNew(notes: Notes): Promise<void> {
  const [first] = people;
  if (!notes.made.people[first.username]) return;
  try {
    await makePerson(first, notes.made.password);
    notes.forget();
    notes.made.people[first.username] = true;
    notes.save();
  } catch (error) {
    if (!(error instanceof AdminError) || error.code !== "conflict") throw error;
  }
}
