import type { Command } from "commander";
import { act, type Context } from "../../context.ts";
import { BadInput } from "../../errors.ts";
import { duration, many, pair } from "../../options.ts";
import type { Terminal } from "../../terminal.ts";
import { type OrganizationOption, withOrganization } from "../organization-option.ts";
import { followLogs } from "./follow-logs.ts";

type Options = OrganizationOption & {
  space?: string;
  flavor: string;
  env?: Record<string, string>;
  secrets?: string[];
  timeout?: number;
  label?: Record<string, string>;
  network?: boolean;
  detach?: boolean;
};

export function addRunCommand(jobs: Command, terminal: Terminal): void {
  const command = jobs
    .command("run")
    .description("run a command in an image, and print what it prints")
    .argument("[image-and-command...]", "python:3.12 python -c 'print(1)'; without the image where --space is given")
    // What follows the image is the command's own, options too.
    .passThroughOptions()
    .option("--space <owner/name>", "in the files of a Space, in the place of an image")
    .option("--flavor <name>", "the hardware", "cpu-basic")
    .option("-e, --env <name=value>", "an environment variable; repeatable", pair)
    .option("-s, --secrets <name[=value]>", "one that is kept sealed; without a value that of this shell; repeatable", many)
    .option("--timeout <duration>", "stop it after 90s, 30m, 2h", duration)
    .option("-l, --label <name=value>", "to find it by; repeatable", pair)
    .option("--network", "let it reach the network, where the operator lets jobs")
    .option("-d, --detach", "print its id and do not wait for it");
  withOrganization(command).action(act(terminal, run));
}

async function run(at: Context, options: Options, given: string[]): Promise<void> {
  const { space, flavor, env, secrets, timeout, label, network, detach, organization } = options;
  const [image, ...rest] = given;
  if (space === undefined && image === undefined)
    throw new BadInput("Name an image and a command: keyhook jobs run IMAGE COMMAND…");
  const command = space === undefined ? rest : given;
  const client = await at.client();
  const job = await client.jobs.run(
    {
      ...(space === undefined ? { dockerImage: image } : { spaceId: space }),
      command,
      flavor,
      environment: env,
      secrets: secrets && secretsOf(secrets, at),
      timeoutSeconds: timeout,
      labels: label,
      network,
    },
    { organization, signal: at.signal },
  );
  if (detach) return at.print.done("Job started", { id: job.id });
  at.print.note(`Job ${job.id} started. Ctrl-C stops following it; keyhook jobs cancel ${job.id} stops the job.`);
  await followLogs(at, job.id, { organization });
}

/** A value on the command line is in the shell's history, and in the list of processes. */
function secretsOf(given: readonly string[], { terminal }: Context): Record<string, string> {
  return Object.fromEntries(
    given.map((text) => {
      const equals = text.indexOf("=");
      if (equals > 0) return [text.slice(0, equals), text.slice(equals + 1)];
      const value = terminal.env[text];
      if (value === undefined)
        throw new BadInput(`--secrets ${text}: there is no variable ${text} here. Set it, or write ${text}=value.`);
      return [text, value];
    }),
  );
}
