import type { JobAnswer } from "@keyhook/sdk";
import type { Command } from "commander";
import { act, type Context } from "../../context.ts";
import { many, pair, wholeNumber } from "../../options.ts";
import type { Terminal } from "../../terminal.ts";
import { type OrganizationOption, withOrganization } from "../organization-option.ts";

const UNDER_WAY = ["SCHEDULING", "RUNNING"];

type Options = OrganizationOption & { all?: boolean; stage?: string[]; label?: Record<string, string>; limit: number };

export function addPsCommand(jobs: Command, terminal: Terminal): void {
  const command = jobs
    .command("ps")
    .alias("ls")
    .description("list the jobs that run, the newest first")
    .option("-a, --all", "those that are over too")
    .option("--stage <stage>", "those in a stage, such as ERROR; repeatable", many)
    .option("-l, --label <name=value>", "those with a label; repeatable", pair)
    .option("--limit <number>", "how many", wholeNumber, 20);
  withOrganization(command).action(act(terminal, ps));
}

async function ps(at: Context, { organization, all, stage, label, limit }: Options): Promise<void> {
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
