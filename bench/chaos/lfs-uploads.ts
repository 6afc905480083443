import { createHash, randomBytes } from "node:crypto";
import { operatorCommand } from "#core/access/actor.ts";
import { createPersonalAccessToken } from "#core/accounts/tokens/personal-access-tokens.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { createRepo } from "#core/hub/repos/create-repo.ts";
import { newId } from "#core/ids.ts";
import type { ChaosService } from "./service.ts";

type Action = { href: string; header?: Record<string, string> };
type Answer = { objects: { actions?: { upload?: Action; verify?: Action; download?: Action } }[] };

const BYTES = 64 * 1024;

export async function prepareUploads(service: ChaosService) {
  const name = `uploaded-${newId()}`;
  const input = { name, scopes: ["write-repos"], expiresInDays: 1 };
  const { token } = await createPersonalAccessToken(operatorCommand, service.ownerId, input, noOrigin);
  const repo = await createRepo(operatorCommand, { type: "model", owner: "mara", name }, noOrigin);
  const authorization = `Basic ${Buffer.from(`mara:${token}`).toString("base64")}`;
  const json = { accept: "application/vnd.git-lfs+json", "content-type": "application/vnd.git-lfs+json" };
  const confirmed: { oid: string; size: number }[] = [];

  async function send(what: string, { href, header }: Action, init: RequestInit = {}): Promise<Response> {
    const response = await fetch(href, { ...init, headers: { ...header, ...(init.headers as Record<string, string>) } });
    if (!response.ok) throw new Error(`${what}: ${response.status}`);
    return response;
  }

  async function actionsOf(operation: string, object: { oid: string; size: number }) {
    const href = `${service.running.origin}/${repo.fullName}.git/info/lfs/objects/batch`;
    const body = JSON.stringify({ operation, transfers: ["basic"], objects: [object] });
    const answer = await send("batch", { href }, { method: "POST", headers: { ...json, authorization }, body });
    return ((await answer.json()) as Answer).objects[0]?.actions ?? {};
  }

  return {
    async upload(): Promise<void> {
      const content = randomBytes(BYTES);
      const object = { oid: createHash("sha256").update(content).digest("hex"), size: content.length };
      const { upload, verify } = await actionsOf("upload", object);
      if (upload) await send("upload", upload, { method: "PUT", body: content });
      if (verify) await send("verify", verify, { method: "POST", headers: json, body: JSON.stringify(object) });
      confirmed.push(object);
    },
    /** The number of confirmed uploads that cannot be downloaded unchanged. */
    async lost(): Promise<number> {
      let lost = 0;
      for (const object of confirmed) {
        const { download } = await actionsOf("download", object);
        const content = download && (await (await send("download", download)).bytes());
        if (!content || createHash("sha256").update(content).digest("hex") !== object.oid) lost++;
      }
      return lost;
    },
  };
}
