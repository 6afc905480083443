import { AdminError, runAdmin } from "./calls.ts";
import type { Made, Notes } from "./describe-demo.ts";
import { operator, organizations, type Ports, people, sampleApps } from "./samples.ts";

export async function seedOperator(notes: Notes): Promise<void> {
  // The notes are stored before the first account uses their password.
  notes.save();
  const make = () => makePerson(operator, notes.made.password, "--operator");
  if (notes.made.people[operator.username]) await forgetIfDatabaseIsNew(notes, make);
  else await notes.once("people", operator.username, () => make().catch(explainConflict));
}

/** Skips everything that is in the notes, so it can run again after an interrupted run. */
export async function seed(notes: Notes, ports: Ports): Promise<Made> {
  for (const person of people) {
    await notes.once("people", person.username, () => makePerson(person, notes.made.password).catch(explainConflict));
  }
  for (const { name, fullName, owner, plan, members } of organizations) {
    await notes.once("organizations", name, async () => {
      const options = ["--name", name, "--full-name", fullName, "--owner", owner, ...(plan ? ["--plan", plan] : [])];
      const { id } = await runAdmin<{ id: string }>("org", "create", ...options).catch(explainConflict);
      return { id, fullName };
    });
    for (const { username, role } of members) {
      await notes.once("members", `${name}/${username}`, async () => {
        await runAdmin("org", "add-member", "--org", name, "--user", username, "--role", role).catch(explainConflict);
        return true;
      });
    }
  }
  for (const { key, args } of sampleApps(ports)) {
    await notes.once("apps", key, async () => {
      const app = await runAdmin<{ client_id: string; client_secret?: string }>("app", "create", ...args);
      return { clientId: app.client_id, clientSecret: app.client_secret };
    });
  }
  return notes.made;
}

function explainConflict(error: unknown): never {
  if (!(error instanceof AdminError) || error.code !== "conflict") throw error;
  throw new Error(`${error.message}. Somebody else or an interrupted demo created it: start again in another DATA_DIR.`);
}

async function makePerson({ username, fullName, email }: typeof operator, password: string, ...more: string[]): Promise<true> {
  const account = ["--username", username, "--full-name", fullName, "--email", email, "--password", password];
  await runAdmin("user", "create", ...account, ...more);
  return true;
}

/** With DATABASE_URL, the database may have been replaced while the notes stayed. */
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
