import type { Receiver } from "../create-receiver.ts";
import type { IncomingRequest } from "../delivery/incoming-request.ts";

const LOOPBACK_ADDRESS = /^(127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/;
const LOOPBACK_HOST = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
const PROXY_HEADERS = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via", "cf-connecting-ip"];

/**
 * Whether the visitor may see what came and send tests: somebody at this machine. A proxy or a tunnel on it comes from a loopback address
 * too, and says for whom; and a page elsewhere whose name was pointed at this machine (DNS rebinding) brings its name as `Host`.
 */
export async function mayManage({ options }: Receiver, incoming: IncomingRequest): Promise<boolean> {
  if (options.mayManage) return options.mayManage(incoming.asRequest());
  return (
    LOOPBACK_ADDRESS.test(incoming.remoteAddress ?? "") &&
    LOOPBACK_HOST.test(new URL(incoming.url).hostname) &&
    /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/.test(incoming.header("host") ?? "") &&
    PROXY_HEADERS.every((name) => incoming.header(name) === undefined)
  );
}
