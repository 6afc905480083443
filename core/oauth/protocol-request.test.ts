import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { ProtocolError, readJsonObject } from "./protocol-request.ts";

async function leave({ isReadBefore }: { isReadBefore: boolean }): Promise<unknown> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  client.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{"a":');
  const [req] = (await once(server, "request")) as [IncomingMessage];
  const reading = isReadBefore ? readJsonObject(req).catch((error: unknown) => error) : undefined;
  client.destroy();
  await once(req, "close").catch(() => undefined);
  return reading ?? readJsonObject(req).catch((error: unknown) => error);
}

describe("S51 a request whose connection breaks", () => {
  test.each([true, false])("fails with 400 (while its body is read: %s)", async (isReadBefore) => {
    const error = await leave({ isReadBefore });
    expect(error).toBeInstanceOf(ProtocolError);
    expect(error).toMatchObject({ status: 400 });
  });
});
