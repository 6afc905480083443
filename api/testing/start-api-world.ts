import { handleOidc } from "#core/oauth/handler.ts";
import { startWorld } from "#core/oauth/testing/world.ts";
import { handleApi } from "../index.ts";

/** Both doors that programs use, the protocol and the API, behind real HTTP. */
export function startApiWorld() {
  return startWorld((req, res) => {
    if (/^\/(api|images|avatars)\//.test(req.url ?? "")) void handleApi(req, res);
    else void handleOidc(req, res, "127.0.0.1");
  });
}
