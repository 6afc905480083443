import type { JobAnswer } from "@keyhook/sdk";
import type { Command } from "commander";
import { actionOf, type Context } from "../context.ts";
import { BadInput, Refused } from "../errors.ts";
import { duration, many, type OrganizationOption, pair, wholeNumber, withOrganization } from "../options.ts";
import { visibleJson } from "../output/printer.ts";
import type { Terminal } from "../terminal.ts";

export function addJobsCommands(program: Command, terminal: Terminal): void {
  const jobs = program.command("jobs").description("jobs: commands that run on the service");
  for (const add of [addRunCommand, addPsCommand, addLogsCommand, addCancelCommand, addInspectCommand]) add(jobs, terminal);
}

type RunOptions = OrganizationOption & {
  space?: string;
  flavor: string;
  env?: Record<string, string>;
  secrets?: string[];
  timeout?: number;
  label?: Record<string, string>;
  network?: boolean;
  detach?: boolean;
};

function addRunCommand(jobs: Command, terminal: Terminal): void {
  const command = jobs
    .command("run")
    .description("run a command in an image and print its output")
    .argument("[image-and-command...]", "such as python:3.12 python -c 'print(1)'; with --space, the command alone")
    .passThroughOptions()
    .option("--space <owner/name>", "run it in a directory with a Space's files instead of in an image")
    .option("--flavor <name>", "the machine size", "cpu-basic")
    .option("-e, --env <name=value>", "an environment variable; repeatable", pair)
    .option("-s, --secrets <name[=value]>", "an encrypted variable; without a value, taken from this shell; repeatable", many)
    .option("--timeout <duration>", "stop the job after a time such as 90s, 30m or 2h", duration)
    .option("-l, --label <name=value>", "a label; repeatable", pair)
    .option("--network", "give it network access, if the operator allows that")
    .option("-d, --detach", "print the job's ID and do not wait for the job");
  withOrganization(command).action(actionOf(terminal, run));
}

async function run(at: Context, options: RunOptions, given: string[]): Promise<void> {
  const { space, flavor, env, secrets, timeout, label, network, detach, organization } = options;
  const [image, ...rest] = given;
  if (space === undefined && image === undefined)
    throw new BadInput("Specify an image and a command: keyhook jobs run IMAGE COMMAND…");
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
  at.print.note(`Job ${job.id} started. Ctrl-C only stops following its log; keyhook jobs cancel ${job.id} stops the job.`);
  await followLogs(at, job.id, { organization });
}

/** Values on the command line are visible in the list of processes. `NAME` alone takes the value from the environment. */
function secretsOf(given: readonly string[], { terminal }: Context): Record<string, string> {
  return Object.fromEntries(
    given.map((text) => {
      const equals = text.indexOf("=");
      if (equals > 0) return [text.slice(0, equals), text.slice(equals + 1)];
      const value = terminal.env[text];
      if (value === undefined)
        throw new BadInput(`--secrets ${text}: the variable ${text} is not set here. Set it, or write ${text}=value.`);
      return [text, value];
    }),
  );
}

const UNDER_WAY = ["SCHEDULING", "RUNNING"];

type PsOptions = OrganizationOption & { all?: boolean; stage?: string[]; label?: Record<string, string>; limit: number };

function addPsCommand(jobs: Command, terminal: Terminal): void {
  const command = jobs
    .command("ps")
    .alias("ls")
    .description("list waiting and running jobs, newest first")
    .option("-a, --all", "include finished jobs")
    .option("--stage <stage>", "only jobs in a stage such as ERROR; repeatable", many)
    .option("-l, --label <name=value>", "only jobs with a label; repeatable", pair)
    .option("--limit <number>", "the maximum number of rows", wholeNumber, 20);
  withOrganization(command).action(actionOf(terminal, ps));
}

async function ps(at: Context, { organization, all, stage, label, limit }: PsOptions): Promise<void> {
  const search = { stage: stage ?? (all ? undefined : UNDER_WAY), labels: label, limit: Math.min(limit, 100) };
  const found: JobAnswer[] = [];
  for await (const job of (await at.client()).jobs.list(search, { organization, signal: at.signal })) {
    found.push(job);
    if (found.length === limit) break;
  }
  at.print.list(
    found.map((job) => ({
      id: job.id,
      image: job.dockerImage ?? job.spaceId,
      command: [...job.command, ...job.arguments].join(" "),
      created: job.createdAt,
      status: job.status.stage,
    })),
    { items: found },
  );
}

function addLogsCommand(jobs: Command, terminal: Terminal): void {
  const command = jobs
    .command("logs")
    .description("print a job's log until the job ends")
    .argument("<id>", "the job's ID")
    .option("--tail <lines>", "begin with this many of the log's latest lines", wholeNumber);
  withOrganization(command).action(actionOf(terminal, logs));
}

const logs = (at: Context, options: OrganizationOption & { tail?: number }, id: string): Promise<void> =>
  followLogs(at, id, options);

/** Throws `Refused` if the job failed, so that a script sees an exit code of 1. */
async function followLogs(
  at: Context,
  id: string,
  { organization, tail }: OrganizationOption & { tail?: number },
): Promise<void> {
  const client = await at.client();
  const request = { organization, signal: at.signal };
  const { print } = at;
  for await (const { timestamp, data } of client.jobs.logs(id, { ...request, ...(tail !== undefined && { tail }) })) {
    if (print.format === "json") print.raw(visibleJson({ timestamp, data }));
    else print.raw(data.replace(/\n$/, ""));
  }
  const { status } = await client.jobs.get(id, request);
  if (status.stage === "COMPLETED") return;
  const because = status.message ?? (status.exitCode === null ? undefined : `exit code ${status.exitCode}`);
  throw new Refused(`Job ${id} ended in the stage ${status.stage}${because ? `: ${because}` : ""}.`);
}

function addCancelCommand(jobs: Command, terminal: Terminal): void {
  const command = jobs.command("cancel").description("stop a job").argument("<id>", "the job's ID");
  withOrganization(command).action(actionOf(terminal, cancel));
}

async function cancel(at: Context, { organization }: OrganizationOption, id: string): Promise<void> {
  const job = await (await at.client()).jobs.cancel(id, { organization, signal: at.signal });
  at.print.done("Job cancelled", { id: job.id });
}

function addInspectCommand(jobs: Command, terminal: Terminal): void {
  const command = jobs.command("inspect").description("show a job").argument("<id>", "the job's ID");
  withOrganization(command).action(actionOf(terminal, inspect));
}

async function inspect(at: Context, { organization }: OrganizationOption, id: string): Promise<void> {
  at.print.record(await (await at.client()).jobs.get(id, { organization, signal: at.signal }));
}
