import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jobSpecSchema } from "@keyhook/sdk";
import { expect, test } from "vitest";
import { db, pool } from "../../db.ts";
import { newId } from "../../ids.ts";
import { claimRows } from "../../postgres/leased-table.ts";
import { type ClaimedRun, jobTable } from "../runs/job-table.ts";
import { createRun } from "../runs/request-run.ts";
import { makeTaskDirectory, sweepTaskDirectories } from "./task-directory.ts";

test("leftovers of a killed worker are removed, and folders of held tasks and of other services stay", async () => {
  const owner = { kind: "user", id: newId() } as const;
  const spec = jobSpecSchema.parse({ command: ["true"] });
  const run = () =>
    createRun(db(), {
      owner,
      createdById: null,
      delegationId: null,
      initiator: { type: "user", id: owner.id },
      secrets: {},
      spec,
    });
  const [held, lost, over] = [await run(), await run(), await run()];
  await claimRows<ClaimedRun>(jobTable, 10);
  await pool().query("UPDATE job_run SET claimed_until = now() - interval '1 second' WHERE id = $1", [lost]);
  await pool().query("UPDATE job_run SET finished_at = now(), stage = 'COMPLETED' WHERE id = $1", [over]);
  const [space, gone] = [newId(), newId()];
  const stays = [
    await makeTaskDirectory("run", held),
    await makeTaskDirectory("files", held),
    await makeTaskDirectory("run", space),
  ];
  stays.push(mkdtempSync(join(tmpdir(), `keyhook-run-00000000-${over}-`)), mkdtempSync(join(tmpdir(), "keyhook-files-")));
  const goes = [
    await makeTaskDirectory("run", lost),
    await makeTaskDirectory("files", over),
    await makeTaskDirectory("run", gone),
  ];
  for (const directory of goes) writeFileSync(join(directory, "payload.json"), "{}");

  await sweepTaskDirectories(new Set([space]));
  expect(stays.map(existsSync)).toEqual(stays.map(() => true));
  expect(goes.map(existsSync)).toEqual(goes.map(() => false));
  for (const directory of stays) rmSync(directory, { recursive: true });
});
