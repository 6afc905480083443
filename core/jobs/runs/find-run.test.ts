import { jobSpecSchema } from "@keyhook/sdk";
import { expect, it } from "vitest";
import { signedInPerson } from "../../accounts/testing/people.ts";
import { db } from "../../db.ts";
import { newOrderedId } from "../../ids.ts";
import { COUNTED_MAX, countRuns, listRuns } from "./find-run.ts";

const RUN_BYTES = 450_000;

it("S137 a search by labels reads a limited amount of run data, and the next page continues", async () => {
  const { id, actor } = await signedInPerson();
  const owner = { kind: "user", id } as const;
  const variables = Object.fromEntries(Array.from({ length: 15 }, (_, at) => [`V${at}`, "x".repeat(RUN_BYTES / 15)]));
  const specs = [
    jobSpecSchema.parse({ labels: { team: "tides" } }),
    ...Array.from({ length: 45 }, () => jobSpecSchema.parse({ environment: variables })),
  ];
  const ids = specs.map(() => newOrderedId());
  const over = { ownerId: id, ownerKind: "user", initiator: {}, stage: "CANCELED", finishedAt: new Date() };
  await db().jobRun.createMany({ data: specs.map((spec, at) => ({ ...over, id: ids[at] as string, spec })) });

  const labels = { team: "tides" };
  const pages: string[][] = [];
  for (let before: string | undefined; ; ) {
    const { runs, next } = await listRuns(actor, owner, { labels, ...(before && { before }) });
    pages.push(runs.map((run) => run.id));
    if (next === null) break;
    before = next;
  }
  expect(pages).toEqual([[], [], [ids[0]]]);
  await expect(countRuns(actor, owner, { labels })).rejects.toMatchObject({ code: "invalid_request", field: "label" });
  expect(await countRuns(actor, owner)).toBe(46);

  await db().jobRun.deleteMany({ where: { id: { in: ids.slice(4) } } });
  expect((await listRuns(actor, owner, { labels })).runs.map((run) => run.id)).toEqual([ids[0]]);
  expect(await countRuns(actor, owner, { labels })).toBe(1);
});

it("S137 a count looks at the latest runs, up to a limit", async () => {
  const { id, actor } = await signedInPerson();
  const owner = { kind: "user", id } as const;
  const spec = JSON.stringify(jobSpecSchema.parse({}));
  await db().$executeRaw`INSERT INTO job_run (id, owner_id, owner_kind, initiator, spec, stage, finished_at)
    SELECT lpad(to_hex(n), 24, '0'), ${id}, 'user', '{}', ${spec}::jsonb, CASE WHEN n <= 5 THEN 'ERROR' ELSE 'CANCELED' END, now()
      FROM generate_series(1, ${COUNTED_MAX + 3}::int) n`;
  expect(await countRuns(actor, owner)).toBe(COUNTED_MAX);
  expect(await countRuns(actor, owner, { stages: ["ERROR"] })).toBe(2);
  await db().jobRun.deleteMany({ where: { ownerId: id } });
});
