import type { Command } from "commander";

export type OrganizationOption = { organization?: string };

/** Ours: existing tools know a person's own things only. */
export const withOrganization = (command: Command): Command =>
  command.option("--organization <name>", "an organization's, in the place of your own");
