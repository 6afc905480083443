import { once } from "node:events";
import http, { Agent, type IncomingHttpHeaders } from "node:http";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { endToEnd } from "../../http/hop-by-hop.ts";
import { type Passed, passOn, passOnUpgrade } from "./proxy.ts";

async function passedOn(bytes: string) {
  const app = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => socket.write(bytes));
  }).listen(0, "127.0.0.1");
  await once(app, "listening");
  let passed: Passed | undefined;
  let pieces = 0;
  const front = http
    .createServer(async (req, res) => {
      const { write } = res;
      res.write = (...given: unknown[]) => {
        pieces++;
        return Reflect.apply(write, res, given);
      };
      const upstream = { host: "127.0.0.1", port: (app.address() as AddressInfo).port };
      passed = await passOn(req, res, { upstream, path: "/", headers: {}, answer: (_, headers) => ({ ...headers }) });
      if (!res.headersSent) res.writeHead(502).end();
    })
    .listen(0, "127.0.0.1");
  await once(front, "listening");
  onTestFinished(() => {
    app.close();
    front.close();
    front.closeAllConnections();
  });
  const answer = await fetch(`http://127.0.0.1:${(front.address() as AddressInfo).port}/`, {
    signal: AbortSignal.timeout(20_000),
  });
  return { status: answer.status, body: await answer.text(), passed, pieces };
}

it.each(["Connection: Upgrade\r\nUpgrade: websocket\r\n", "Upgrade: websocket\r\n", "Content-Length: 2\r\n", ""])(
  "S110, S138 a plain request that an app answers with 101 ends at once, without a tunnel: %j",
  async (more) => {
    const { status, passed } = await passedOn(`HTTP/1.1 101 Switching Protocols\r\n${more}\r\n`);
    expect([status, passed]).toEqual([502, "broken"]);
  },
);

it("S132 a response in thousands of tiny pieces is passed on in a few pieces", async () => {
  const tiny = "1\r\nx\r\n".repeat(20_000);
  const { status, body, pieces } = await passedOn(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${tiny}0\r\n\r\n`);
  expect([status, body]).toEqual([200, "x".repeat(20_000)]);
  expect(pieces).toBeLessThan(1_000);
});

it("S132 an app that keeps sending interim responses is cut off", async () => {
  const { status, passed } = await passedOn("HTTP/1.1 103 Early Hints\r\n\r\n".repeat(100));
  expect([status, passed]).toEqual([502, "broken"]);
});

it.each<[string, string, string, number | string]>([
  ["empty lines", "", "\r\n", 502],
  ["a header's spaces", "HTTP/1.1 200 OK\r\nX:", " ", 502],
  ["the zeros of a chunk's size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "0", "TypeError"],
])("S132 an app that keeps sending %s is cut off", async (_, head, skipped, expected) => {
  const answered = passedOn(head + skipped.repeat(8 * 1024 * 1024));
  expect(
    await answered.then(
      ({ status }) => status,
      ({ name }) => name,
    ),
  ).toBe(expected);
});

it.each<[string, IncomingHttpHeaders, boolean]>([
  ["chunked", { "transfer-encoding": "chunked" }, false],
  ["of a stated length", { "content-length": "1000" }, false],
  ["held back", { "content-length": "1000" }, true],
])("S137 a response before the end of the request's body (%s) leaves no connection open", async (_, headers, isBodyHeldBack) => {
  const app = http.createServer({ keepAliveTimeout: 60_000 }, (_req, res) => res.end("early"));
  app.on("checkContinue", (_req, res) => res.end("early"));
  let open = 0;
  app.on("connection", (socket) => {
    open++;
    socket.on("close", () => open--);
  });
  app.listen(0, "127.0.0.1");
  await once(app, "listening");
  const upstream = { host: "127.0.0.1", port: (app.address() as AddressInfo).port };
  const agent = new Agent({ keepAlive: true });
  const passed = Promise.withResolvers<Passed>();
  const front = http
    .createServer((req, res) => {
      passOn(req, res, {
        upstream,
        agent,
        path: "/",
        headers: {},
        isBodyHeldBack,
        answer: (_status, given) => ({ ...given }),
      }).then(passed.resolve);
    })
    .listen(0, "127.0.0.1");
  await once(front, "listening");
  const asked = http.request({ port: (front.address() as AddressInfo).port, method: "POST", headers });
  onTestFinished(() => {
    asked.on("error", () => undefined).destroy();
    agent.destroy();
    for (const server of [app, front]) server.close().closeAllConnections();
  });
  asked.write("a part of it");
  const [answer] = await once(asked, "response");
  answer.resume();
  expect(await passed.promise).toBe("answered");
  await expect.poll(() => open, { timeout: 3_000 }).toBe(0);
});

it("S137 a request's body does not become another request, whatever the client's Connection header names", async () => {
  const seen: string[] = [];
  const answer = (req: http.IncomingMessage, res: http.ServerResponse) => {
    seen.push(`${req.method} ${req.url}`);
    req.resume().once("end", () => res.end());
  };
  const app = http.createServer(answer).listen(0, "127.0.0.1");
  app.on("checkContinue", (req, res) => {
    res.writeContinue();
    answer(req, res);
  });
  const agent = new Agent({ keepAlive: true });
  const front = http.createServer((req, res) => {
    const upstream = { host: "127.0.0.1", port: (app.address() as AddressInfo).port };
    void passOn(req, res, {
      upstream,
      agent,
      path: req.url ?? "",
      headers: endToEnd(req.headers),
      isBodyHeldBack: true,
      answer: () => ({}),
    });
  });
  front.listen(0, "127.0.0.1");
  await Promise.all([once(app, "listening"), once(front, "listening")]);
  onTestFinished(() => {
    agent.destroy();
    for (const server of [app, front]) server.close().closeAllConnections();
  });
  const body = "GET /hidden HTTP/1.1\r\nHost: x\r\n\r\n";
  for (const method of ["GET", "DELETE", "POST"]) {
    const client = connect((front.address() as AddressInfo).port, "127.0.0.1");
    client.write(
      `${method} /asked HTTP/1.1\r\nHost: x\r\nConnection: content-length, close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await once(client.resume(), "end");
  }
  expect(seen).toEqual(["GET /asked", "DELETE /asked", "POST /asked"]);
});

it("S132 a WebSocket may carry any number of bytes", async () => {
  const bytes = Buffer.alloc(1024 * 1024, "x");
  const app = http.createServer().listen(0, "127.0.0.1");
  app.on("upgrade", (_, socket) => {
    socket.end(
      Buffer.concat([
        Buffer.from("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"),
        bytes,
      ]),
    );
  });
  const front = http.createServer().listen(0, "127.0.0.1");
  await Promise.all([once(app, "listening"), once(front, "listening")]);
  const upstream = { host: "127.0.0.1", port: (app.address() as AddressInfo).port };
  front.on("upgrade", (req, socket, head) => {
    const passing = {
      upstream,
      path: "/",
      headers: {},
      answer: () => ({ "sec-websocket-accept": "x" }),
      refuse: () => socket.destroy(),
    };
    void passOnUpgrade(req, socket, head, passing);
  });
  onTestFinished(() => {
    for (const server of [app, front]) server.close().closeAllConnections();
  });
  const headers = { connection: "Upgrade", upgrade: "websocket" };
  const asked = http.request({ port: (front.address() as AddressInfo).port, headers }).end();
  const [, socket, head] = (await once(asked, "upgrade")) as [unknown, Socket, Buffer];
  let length = head.length;
  for await (const piece of socket) length += piece.length;
  expect(length).toBe(bytes.length);
});
