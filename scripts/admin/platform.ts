import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { createPlatform } from "#core/hub/platforms/create-platform.ts";
import { findLivePlatform } from "#core/hub/platforms/find-platform.ts";
import { listPlatforms } from "#core/hub/platforms/list-platforms.ts";
import { revokePlatform } from "#core/hub/platforms/revoke-platform.ts";
import { rotatePlatformToken } from "#core/hub/platforms/rotate-platform-token.ts";
import { command } from "./command.ts";

const name = { value: "NAME", help: "what it is called here", isRequired: true } as const;

export const platformCreate = command({
  name: "platform create",
  summary: "Lets a platform with repositories of its own tell of them and of what happens to them.",
  notes: ["Its token is printed this one time. docs/guides/events-from-outside.md has an adapter."],
  options: {
    name,
    source: {
      value: "URI",
      help: "what the source of its events begins with, such as https://git.example.com",
      isRequired: true,
    },
  },
  async run(values) {
    const { id, name, source, token } = await createPlatform(operatorCommand, values, noOrigin);
    return { json: { id, name, source, token }, text: `${name} speaks for ${source}\ntoken: ${token}` };
  },
});

export const platformList = command({
  name: "platform list",
  summary: "Lists the platforms that may tell of repositories.",
  options: {},
  async run() {
    const platforms = await listPlatforms(operatorCommand);
    return {
      json: {
        platforms: platforms.map(({ id, name, source, last4, createdAt, lastUsedAt, repoCount }) => ({
          id,
          name,
          source,
          last4,
          created_at: createdAt.toISOString(),
          last_used_at: lastUsedAt?.toISOString() ?? null,
          repos: repoCount,
        })),
      },
      text:
        platforms
          .map(({ name, source, last4, repoCount }) => `${name}\t${source}\ttoken …${last4}\t${repoCount} repositories`)
          .join("\n") || "There are none.",
    };
  },
});

export const platformRotate = command({
  name: "platform rotate",
  summary: "Gives a platform a new token. The one before works for a day more.",
  options: { name },
  async run(values) {
    const platform = await findLivePlatform(values.name);
    const { token, previousExpiresAt } = await rotatePlatformToken(operatorCommand, platform, noOrigin);
    return {
      json: { id: platform.id, token, previous_expires_at: previousExpiresAt.toISOString() },
      text: `token: ${token}\nThe one before works until ${previousExpiresAt.toISOString()}.`,
    };
  },
});

export const platformRevoke = command({
  name: "platform revoke",
  summary: "Ends a platform's tokens at once, and takes out what it told of its repositories.",
  options: { name },
  async run(values) {
    const platform = await findLivePlatform(values.name);
    const { removedRepos } = await revokePlatform(operatorCommand, platform, noOrigin);
    const went = removedRepos === 1 ? "1 repository of it is" : `${removedRepos} repositories of it are`;
    return {
      json: { revoked: platform.name, removed_repos: removedRepos },
      text: `${platform.name} is revoked; ${went} not known here any more.`,
    };
  },
});
