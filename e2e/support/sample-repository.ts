import { randomBytes } from "node:crypto";
import { expect } from "@playwright/test";
import { admin } from "./admin.ts";
import type { Demo } from "./demo.ts";
import type { Person } from "./sign-in-page.ts";

export class Repository {
  readonly #demo: Demo;
  readonly #token: string;
  readonly fullName: string;
  readonly type: RepoType;

  private constructor(demo: Demo, { token, fullName, type }: { token: string; fullName: string; type: RepoType }) {
    this.#demo = demo;
    this.#token = token;
    this.fullName = fullName;
    this.type = type;
  }

  static async make(
    demo: Demo,
    owner: Pick<Person, "username">,
    { type = "model", isPrivate = false, name = `tides-${randomBytes(4).toString("hex")}` }: Partial<NewRepository> = {},
  ): Promise<Repository> {
    const scopes = "manage-repos write-repos read-repos";
    const { token } = await admin<{ token: string }>(
      demo,
      ...["token", "create", "--user", owner.username, "--scopes", scopes, "--expires", "1"],
    );
    const repository = new Repository(demo, { token, fullName: `${owner.username}/${name}`, type });
    await repository.send("/api/repos/create", { name, type, private: isPrivate, autoInit: false });
    return repository;
  }

  get path(): string {
    return this.type === "model" ? `/${this.fullName}` : `/${this.type}s/${this.fullName}`;
  }

  get api(): string {
    return `/api/${this.type}s/${this.fullName}`;
  }

  async commit(files: Record<string, string | Buffer>, summary = "Add files", branch = "main"): Promise<string> {
    const lines = [
      { key: "header", value: { summary } },
      ...Object.entries(files).map(([path, content]) => ({
        key: "file",
        value: { path, content: Buffer.from(content).toString("base64"), encoding: "base64" },
      })),
    ];
    const body = lines.map((line) => JSON.stringify(line)).join("\n");
    const { commitOid } = await this.send<{ commitOid: string }>(`${this.api}/commit/${encodeURIComponent(branch)}`, body);
    return commitOid;
  }

  async branch(name: string, startingPoint = "main"): Promise<void> {
    await this.send(`${this.api}/branch/${encodeURIComponent(name)}`, { startingPoint });
  }

  async tag(tag: string, message = ""): Promise<void> {
    await this.send(`${this.api}/tag/main`, { tag, message });
  }

  async read(path: string, revision = "main"): Promise<string | undefined> {
    const file = path.split("/").map(encodeURIComponent).join("/");
    const answer = await fetch(`${this.#demo.origin}${this.path}/raw/${encodeURIComponent(revision)}/${file}`, {
      headers: { authorization: `Bearer ${this.#token}` },
    });
    return answer.ok ? answer.text() : undefined;
  }

  async send<T = unknown>(path: string, body: unknown): Promise<T> {
    const isText = typeof body === "string";
    const answer = await fetch(this.#demo.origin + path, {
      method: "POST",
      headers: {
        authorization: `Bearer ${this.#token}`,
        "content-type": isText ? "application/x-ndjson" : "application/json",
      },
      body: isText ? body : JSON.stringify(body),
    });
    const text = await answer.text();
    expect(answer.ok, `${path}: ${answer.status} ${text}`).toBe(true);
    return (text ? JSON.parse(text) : undefined) as T;
  }
}

type RepoType = "model" | "dataset" | "space";
type NewRepository = { type: RepoType; isPrivate: boolean; name: string };

export const sampleFiles: Record<string, string | Buffer> = {
  "README.md": [
    "---",
    "tags: [sea, moon]",
    "---",
    "# Tide tables",
    "",
    "High and low water for **forty** harbours. See [the code](src/tides.py).",
    "",
    // On a phone, none of these lines may make the page wider.
    `${"Llanfairpwllgwyngyll".repeat(20)} https://example.test/${"a".repeat(200)}`,
    "",
    "| harbour | high |",
    "|---|---|",
    `| Alba${"-on-the-water".repeat(10)} | 3.2 m |`,
    "",
  ].join("\n"),
  "src/tides.py":
    'import math\n\n\ndef height(hour: float) -> float:\n    """Of the water, in metres."""\n    return 2.1 * math.cos(hour)\n',
  "harbours.csv": "name,lat\nAlba,1\nBree,2\n",
  "page.html": "<!doctype html><script>document.title = 'ran'</script><p>A page</p>",
  "a name with 🌊 and spaces.txt": "odd\n",
  "pixel.png": Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
    "base64",
  ),
};

export const correctedFiles = { "harbours.csv": "name,lat\nAlba,1.5\nBree,2\nCove,3\n" };
