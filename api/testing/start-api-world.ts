import { handleOidc } from "#core/oauth/handler.ts";
import { startWorld } from "#core/oauth/testing/world.ts";
import { handleApi } from "../index.ts";

/** Both doors that programs use, the protocol and the API with git, behind real HTTP. */
export function startApiWorld() {
  return startWorld((req, res) => {
    if (/^\/(oauth|\.well-known)\//.test(req.url ?? "")) void handleOidc(req, res, "127.0.0.1");
    else void handleApi(req, res);
  });
}
