import type { WebhookPayload } from "@keyhook/sdk";

const id = (end: string) => `66a0c0ffee00000000000${end}`;

/** A push as the service tells of it, of a repository that there is not. */
export const samplePayload = (): WebhookPayload => ({
  event: { scope: "repo.content", action: "update" },
  repo: {
    type: "dataset",
    name: "ada/tide-tables",
    id: id("001"),
    private: false,
    url: { web: "https://hub.example.com/datasets/ada/tide-tables", api: "https://hub.example.com/api/datasets/ada/tide-tables" },
    owner: { id: id("002") },
    headSha: "9f31c0de5a4b7e6f8091a2b3c4d5e6f708192a3b",
    tags: ["tides"],
  },
  updatedRefs: [
    {
      ref: "refs/heads/main",
      oldSha: "1b7f44a09c3de25f6a8b0c1d2e3f405162738495",
      newSha: "9f31c0de5a4b7e6f8091a2b3c4d5e6f708192a3b",
    },
  ],
  webhook: { id: id("003"), version: 3 },
});
