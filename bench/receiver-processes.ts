import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createReceiver } from "@keyhook/receiver";
import { createNodeMiddleware, Webhooks } from "@octokit/webhooks";

export const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const id = "66a0c0ffee00000000000001";
export const payload = JSON.stringify({
  event: { scope: "repo.content", action: "update" },
  repo: {
    ...{ type: "dataset", name: "ada/tide-tables", id, private: false, owner: { id }, headSha: "9".repeat(40), tags: ["tides"] },
    url: { web: "https://hub.example.com/datasets/ada/tide-tables", api: "https://hub.example.com/api/datasets/ada/tide-tables" },
  },
  updatedRefs: [{ ref: "refs/heads/main", oldSha: "1".repeat(40), newSha: "9".repeat(40) }],
  webhook: { id, version: 3 },
});

const kind = process.argv[2];
if (process.send && kind) {
  const take = () => undefined;
  if (kind === "octokit") {
    const webhooks = new Webhooks({ secret: SECRET });
    webhooks.onAny(() => undefined);
    const server = createServer(createNodeMiddleware(webhooks)).listen(0, "127.0.0.1", () => {
      process.send?.((server.address() as AddressInfo).port);
    });
  } else {
    const receiver = createReceiver({ secret: SECRET });
    receiver.on("onPush", take, kind === "ours-queue" ? { mode: "queue", concurrency: 16 } : {});
    const { port } = await receiver.launch({ port: 0, print: () => undefined });
    process.send(port);
  }
  process.once("disconnect", () => process.exit());
}
