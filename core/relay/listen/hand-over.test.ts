import { expect, it } from "vitest";
import { from, signedInPerson } from "../../accounts/testing/people.ts";
import { takeRequest } from "../inbox/take-request.ts";
import { openRelay } from "../open-relay.ts";
import { connect } from "./connection.ts";
import { handOver } from "./hand-over.ts";

const MIB = 1024 * 1024;

it("S138 reads at most one large request from the database at once", async () => {
  const ada = await signedInPerson("ada");
  await openRelay(ada.actor, ada.id, "large", from);
  const connection = await connect(ada.actor, { userId: ada.id, name: "large", listenerId: "word" });
  if (!connection) throw new Error("there is no relay");
  const sizes = [1, 2, 7 * MIB, 7 * MIB, 3, MIB / 2];
  for (const size of sizes) {
    const request = { method: "POST", path: "/", headers: [], body: new Uint8Array(size) };
    expect(await takeRequest(connection.relayId, request)).toBeDefined();
  }
  const reach = { owners: null, readable: null };
  const known: string[] = [];
  const batches: number[][] = [];
  for (let handed = 1; handed > 0; ) {
    const batch = await handOver(connection, { room: 64, known, reach });
    known.push(...batch.map(({ id }) => id));
    handed = batch.length;
    if (handed > 0) batches.push(batch.map(({ body }) => body.length));
  }
  expect(batches).toEqual([
    [1, 2, 7 * MIB],
    [7 * MIB, 3, MIB / 2],
  ]);
});
