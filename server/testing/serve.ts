import { createServer } from "node:http";
import { env } from "#core/env.ts";
import { handleRequest } from "../handle-request.ts";

const server = createServer((req, res) => handleRequest(async (_, page) => void page.writeHead(404).end(), req, res));
server.listen(env().PORT, "127.0.0.1", () => process.send?.("listening"));
process.on("disconnect", () => process.exit());
