import { type Attack, holdOpen } from "../attack.ts";

const MIB = 1024 ** 2;
const CONNECTIONS = 200;
const BODY_MIB = 15;

/** Somebody without an account sends bodies of almost the maximum size, whose last byte never arrives. */
export const slowBodies: Attack = {
  id: "A2",
  name: `${CONNECTIONS} bodies of ${BODY_MIB} MiB to /api/repos/create that do not end`,
  async prepare(_stage, attackers) {
    const body = Buffer.alloc(BODY_MIB * MIB, " ");
    const headers = { "Content-Type": "application/json", "Content-Length": String(body.length + 1) };
    const held = { most: 0 };
    return {
      run: (signal) =>
        holdOpen(CONNECTIONS, signal, held, () => {
          const socket = attackers.open(attackers.head("POST", "/api/repos/create", headers));
          socket.write(body, () => {
            attackers.tally.sentBytes += body.length;
          });
          return socket.resume();
        }),
      got: () => [`${held.most} connections held at most`],
    };
  },
};
