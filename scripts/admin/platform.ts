import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { counted } from "#core/counted.ts";
import { createPlatform, listPlatforms, revokePlatform, rotatePlatformToken } from "#core/hub/platforms/manage-platforms.ts";
import { findLivePlatform } from "#core/hub/platforms/platform.ts";
import { command, listed } from "./command.ts";

const name = { value: "NAME", help: "its name here", isRequired: true } as const;

const platformCreate = command({
  name: "platform create",
  summary: "Lets a platform report its own repositories and their changes.",
  notes: ["Its token is printed once. docs/guides/events-from-outside.md has an adapter."],
  options: {
    name,
    source: {
      value: "URI",
      help: "the prefix of its events' source, such as https://git.example.com",
      isRequired: true,
    },
  },
  async run(values) {
    const { id, name, source, token } = await createPlatform(operatorCommand, values, noOrigin);
    return { json: { id, name, source, token }, text: `${name} may now report changes from ${source}\ntoken: ${token}` };
  },
});

const platformList = command({
  name: "platform list",
  summary: "Lists the platforms that may report repositories.",
  options: {},
  async run() {
    const platforms = await listPlatforms(operatorCommand);
    const json = platforms.map(({ id, name, source, last4, createdAt, lastUsedAt, repoCount }) => ({
      id,
      name,
      source,
      last4,
      created_at: createdAt.toISOString(),
      last_used_at: lastUsedAt?.toISOString() ?? null,
      repos: repoCount,
    }));
    const lines = platforms.map(({ name, source, last4, repoCount }) => [
      name,
      source,
      `token …${last4}`,
      counted(repoCount, "repository", "repositories"),
    ]);
    return listed({ platforms: json }, lines);
  },
});

const platformRotate = command({
  name: "platform rotate",
  summary: "Creates a new token for a platform. The old one stays valid for a day.",
  options: { name },
  async run(values) {
    const platform = await findLivePlatform(values.name);
    const { token, previousExpiresAt } = await rotatePlatformToken(operatorCommand, platform, noOrigin);
    return {
      json: { id: platform.id, token, previous_expires_at: previousExpiresAt.toISOString() },
      text: `token: ${token}\nThe old one is valid until ${previousExpiresAt.toISOString()}.`,
    };
  },
});

const platformRevoke = command({
  name: "platform revoke",
  summary: "Revokes a platform's tokens at once, and removes the repositories that it reported.",
  options: { name },
  async run(values) {
    const platform = await findLivePlatform(values.name);
    const { removedRepos } = await revokePlatform(operatorCommand, platform, noOrigin);
    const removed = counted(removedRepos, "repository was", "repositories were");
    return {
      json: { revoked: platform.name, removed_repos: removedRepos },
      text: `${platform.name} was revoked; ${removed} removed.`,
    };
  },
});

export const platformCommands = [platformCreate, platformList, platformRotate, platformRevoke];
