import { randomBytes } from "node:crypto";
import { expect } from "@playwright/test";
import { enterAgain } from "./enter.ts";
import { makeRepo, makeToken } from "./git-repository.ts";
import type { Screen, Visit } from "./screen.ts";

export const discussionScreens: Screen[] = [
  { name: "discussions-empty", open: (visit) => open(visit, () => "/discussions", { isEmpty: true }) },
  { name: "discussion-new", open: (visit) => open(visit, () => "/discussions/new", { isEmpty: true }) },
  { name: "pull-request-new", open: (visit) => open(visit, () => "/discussions/new?kind=pull-request") },
  { name: "discussions", open: (visit) => open(visit, () => "/discussions") },
  { name: "discussion", open: (visit) => open(visit, () => "/discussions/1") },
  { name: "pull-request", open: (visit) => open(visit, ({ clean }) => `/discussions/${clean}`) },
  { name: "pull-request-conflicts", open: (visit) => open(visit, ({ conflicting }) => `/discussions/${conflicting}`) },
  { name: "pull-request-files", open: (visit) => open(visit, ({ clean }) => `/discussions/${clean}/files`) },
  {
    name: "discussion-preview",
    async open(visit) {
      await open(visit, () => "/discussions/1");
      await visit.page.getByLabel("Your comment").fill("| A | B |\n|---|---|\n| 1 | 2 |\n\n- [x] done\n- [ ] *not* yet");
      await visit.page.getByRole("button", { name: "Preview" }).click();
      await visit.page.getByRole("region", { name: "Preview" }).waitFor();
    },
  },
  {
    name: "discussion-edit",
    async open(visit) {
      await open(visit, () => "/discussions/1");
      const [first, second] = [visit.page.getByRole("article").first(), visit.page.getByRole("article").nth(1)];
      await visit.page.getByText("Edit title", { exact: true }).click();
      await first.getByText("Edit", { exact: true }).click();
      await first.getByLabel("Comment", { exact: true }).fill("");
      await first.getByRole("button", { name: "Save comment" }).click();
      await first.getByText("Enter some text.").waitFor();
      await second.getByLabel("React", { exact: true }).click();
      await second.getByText("Delete", { exact: true }).click();
    },
  },
];

type Nums = { clean: number; conflicting: number };
type Discussed = Nums & { fullName: string };

let discussed: Promise<Discussed> | undefined;

async function open(visit: Visit, pathOf: (nums: Nums) => string, { isEmpty = false } = {}): Promise<void> {
  const made = isEmpty ? prepare(visit, { isEmpty }) : (discussed ?? prepare(visit));
  if (!isEmpty) discussed = made;
  const { fullName, ...nums } = await made;
  await enterAgain(visit.page, visit.newcomer);
  const answer = await visit.page.goto(`/${fullName}${pathOf(nums)}`);
  expect(answer?.status()).toBe(200);
}

async function prepare({ demo, newcomer }: Visit, { isEmpty = false } = {}): Promise<Discussed> {
  const token = await makeToken(demo, newcomer);
  const fullName = await makeRepo(demo, token, `tide-tables-${randomBytes(4).toString("hex")}`);
  const nums = isEmpty ? { clean: 0, conflicting: 0 } : await discuss(demo.origin, token, fullName);
  return { fullName, ...nums };
}

const LONG = `${"https://example.com/".padEnd(160, "a-long-address-")}\n\n\`\`\`sh\n${"git fetch origin refs/pr/2:pr/2 && ".repeat(5)}\n\`\`\`\n`;

async function discuss(origin: string, token: string, fullName: string): Promise<Nums> {
  const send = async (path: string, body: unknown) => {
    const response = await fetch(`${origin}/api/models/${fullName}${path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": typeof body === "string" ? "application/x-ndjson" : "application/json",
      },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    return response.json();
  };
  const commit = async (path: string, summary: string, content: string) => {
    const file = { path: "tides.txt", content: Buffer.from(content).toString("base64"), encoding: "base64" };
    const lines = [
      { key: "header", value: { summary, description: "" } },
      { key: "file", value: file },
    ];
    const { pullRequestUrl } = await send(path, lines.map((line) => JSON.stringify(line)).join("\n"));
    return Number(/\d+$/.exec(pullRequestUrl ?? "")?.[0] ?? 0);
  };
  await commit("/commit/main", "Begin", "high\nhigher\n");
  await send("/discussions", {
    title: "When is the tide, and how does one read the table of it?",
    description: `I *ask*.\n\n${LONG}`,
  });
  const { newMessage } = await send("/discussions/1/comment", { comment: "At six." });
  await send(`/discussions/1/comment/${newMessage.id}/reaction`, { reaction: "🎉" });
  const hidden = await send("/discussions/1/comment", { comment: "Never." });
  await send(`/discussions/1/comment/${hidden.newMessage.id}/hide`, {});
  await send("/discussions/1/title", { title: "When is the tide?" });
  await send("/discussions/1/pin", {});
  const conflicting = await commit("/commit/main?create_pr=1", "Tell the lowest tide", "high\nlowest\n");
  await commit("/commit/main", "Tell the highest tide", "high\nhighest\n");
  const clean = await commit("/commit/main?create_pr=1", "Tell of low tide", "high\nhighest\nlow\n");
  return { clean, conflicting };
}
