import type { Context } from "../../context.ts";
import { Refused } from "../../errors.ts";
import { visibleJson } from "../../output/visible.ts";
import type { OrganizationOption } from "../organization-option.ts";

/** Prints a job's log until it is over. @throws Refused where it did not end well, so that a script sees it */
export async function followLogs(
  at: Context,
  id: string,
  { organization, tail }: OrganizationOption & { tail?: number },
): Promise<void> {
  const client = await at.client();
  const whose = { organization, signal: at.signal };
  const { print } = at;
  for await (const { timestamp, data } of client.jobs.logs(id, { ...whose, ...(tail !== undefined && { tail }) })) {
    if (print.format === "json") print.raw(visibleJson({ timestamp, data }));
    else print.raw(data.replace(/\n$/, ""));
  }
  const { status } = await client.jobs.get(id, whose);
  if (status.stage === "COMPLETED") return;
  const because = status.message ?? (status.exitCode === null ? undefined : `exit code ${status.exitCode}`);
  throw new Refused(`Job ${id} ended as ${status.stage}${because ? `: ${because}` : ""}.`);
}
