/** Uses plain JavaScript and Node's own modules, because the sandbox contains no other code of this service. */
import { connect, createServer } from "node:net";

const [socketPath, port] = process.argv.slice(2);

const server = createServer((inside) => {
  const outside = connect(socketPath);
  inside.on("error", () => outside.destroy());
  outside.on("error", () => inside.destroy());
  inside.pipe(outside).pipe(inside);
});
server.listen(Number(port), "127.0.0.1", () => {
  process.stdout.write("ready\n");
});
