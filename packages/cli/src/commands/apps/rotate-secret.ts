import type { Command } from "commander";
import { act, type Context } from "../../context.ts";
import { duration } from "../../options.ts";
import type { Terminal } from "../../terminal.ts";
import { type OrganizationOption, withOrganization } from "../organization-option.ts";

export function addAppRotateSecretCommand(apps: Command, terminal: Terminal): void {
  const command = apps
    .command("rotate-secret")
    .description("give an app a new secret, or its first one, shown this once")
    .argument("<id>", "of the app")
    .option("--overlap <duration>", "let the one before work for 1h, 7d at most", duration)
    .option("-y, --yes", "do not ask");
  withOrganization(command).action(act(terminal, rotateSecret));
}

type Options = OrganizationOption & { overlap?: number; yes?: boolean };

async function rotateSecret(at: Context, { organization, overlap, yes }: Options, id: string): Promise<void> {
  if (!overlap) await at.confirm(`Give app ${id} a new secret, and end the one before at once?`, { yes });
  const client = await at.client();
  const { app, secret } = await client.apps.rotateSecret(id, { overlapSeconds: overlap, organization, signal: at.signal });
  at.print.done("Secret rotated", { id: app.id, secret });
  if (at.print.format === "quiet") at.print.always(`secret: ${secret}`);
}
