import { connect } from "node:net";

/** The first of `ports` on which something answers on this machine, or which cannot be a port at all. */
export async function findBusyPort(ports: number[]): Promise<number | undefined> {
  const answers = await Promise.all(ports.map(async (port) => port > 65_535 || (await isAnswering(port))));
  return ports.find((_, at) => answers[at]);
}

// Asked by connecting, for a port may be free on one address and taken on another.
function isAnswering(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "localhost", autoSelectFamily: true });
    const answer = (isOpen: boolean) => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once("connect", () => answer(true)).once("error", () => answer(false));
  });
}
