import type { Made, Notes } from "./notes.ts";
import { AdminError, runAdmin } from "./run-admin.ts";
import { operator, organizations, type Ports, people, sampleApps } from "./samples.ts";

/** Makes the operator, for which the service need not run yet. */
export async function seedOperator(notes: Notes): Promise<void> {
  // Kept before the first account is made with it.
  notes.save();
  const make = async () => {
    await makePerson(operator, notes.made.password, "--operator");
    return true as const;
  };
  if (notes.made.people[operator.username]) await forgetIfDatabaseIsNew(notes, make);
  else await once(notes, "people", operator.username, make);
}

/**
 * Makes the sample people, their organizations and the samples' OAuth apps, each through the operator command. What an earlier run
 * made is taken from the notes, so that running it again, also after a run that was cut short, changes nothing.
 */
export async function seed(notes: Notes, ports: Ports): Promise<Made> {
  for (const person of people) {
    await once(notes, "people", person.username, async () => {
      await makePerson(person, notes.made.password);
      return true;
    });
  }
  for (const { name, fullName, owner, plan, members } of organizations) {
    await once(notes, "organizations", name, async () => {
      const given = ["--name", name, "--full-name", fullName, "--owner", owner, ...(plan ? ["--plan", plan] : [])];
      const { id } = await runAdmin<{ id: string }>("org", "create", ...given);
      return { id, fullName };
    });
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

type Kind = "people" | "organizations" | "members" | "apps";

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

async function makePerson({ username, fullName, email }: typeof operator, password: string, ...more: string[]): Promise<void> {
  const account = ["--username", username, "--full-name", fullName, "--email", email, "--password", password];
  await runAdmin("user", "create", ...account, ...more);
}

/** With DATABASE_URL the database may have been replaced while the notes stayed: then they speak of what is gone. */
async function forgetIfDatabaseIsNew(notes: Notes, make: () => Promise<true>): Promise<void> {
  try {
    await make();
  } catch (error) {
    if (error instanceof AdminError && error.code === "conflict") return;
    throw error;
  }
  notes.forget();
  notes.made.people[operator.username] = true;
  notes.save();
}
