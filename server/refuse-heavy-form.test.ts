import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RequestContext, requestContext } from "#core/log.ts";
import { limitBody } from "./limit-body.ts";
import { refuseHeavyForm } from "./refuse-heavy-form.ts";

/** Next reads the form of a call with busboy, and all other forms with undici. */
const busboy = createRequire(import.meta.url)("next/dist/compiled/busboy");

type Read = { name: string; file?: string; length: number };

function readCall(req: IncomingMessage): Promise<Read[]> {
  const read: Read[] = [];
  const reader = busboy({ headers: req.headers, defParamCharset: "utf8" });
  reader.on("field", (name: string, value: string) => read.push({ name, length: value.length }));
  reader.on("file", async (name: string, content: NodeJS.ReadableStream, { filename }: { filename?: string }) => {
    const one = { name, file: filename ?? "", length: 0 };
    read.push(one);
    one.length = (await text(content)).length;
  });
  req.pipe(reader);
  return once(reader, "close").then(
    () => read,
    () => [], // busboy cannot read a head with control characters
  );
}

async function readForm(req: IncomingMessage): Promise<Read[]> {
  const init = { method: "POST", headers: { "content-type": req.headers["content-type"] ?? "" }, body: req, duplex: "half" };
  const form = await new Request("http://localhost", init as unknown as RequestInit).formData();
  return [...form].map(([name, value]) =>
    typeof value === "string" ? { name, length: value.length } : { name, file: value.name, length: value.size },
  );
}

let server: Server;
let origin: string;
let workMs: number | undefined;
let checked = 0;

beforeAll(async () => {
  server = createServer((req, res) => {
    const context: RequestContext = { requestId: "" };
    requestContext.run(context, async () => {
      if (req.url === "/late") await delay(50);
      const over = new AbortController();
      const refuse = () => {
        res.writeHead(413).end("too large");
        over.abort();
      };
      if (req.url === "/limited") limitBody(req, () => 1_000, refuse);
      const refusal = await refuseHeavyForm(req, over.signal);
      checked += 1;
      if (over.signal.aborted) return;
      workMs = context.workMs;
      if (refusal) return res.writeHead(refusal.status).end(refusal.error);
      const isMultipart = /^multipart/.test(req.headers["content-type"] ?? "");
      const read = !isMultipart ? (await text(req)).length : await (req.headers["next-action"] ? readCall(req) : readForm(req));
      res.end(JSON.stringify(read));
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

const CALL = { "next-action": "x" };
const part = (name: string, value: string, more = "") =>
  `--x\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;
const form = (...parts: string[]) => `${parts.join("")}--x--\r\n`;
const MULTIPART = { "content-type": "multipart/form-data; boundary=x" };

async function send(body: BodyInit, headers: Record<string, string> = {}, path = "/late") {
  const answer = await fetch(origin + path, { method: "POST", headers, body });
  const read = await answer.text();
  return answer.ok ? (JSON.parse(read) as Read[]) : `${answer.status} ${read}`;
}

const list = (count: number) => JSON.stringify(Array(count).fill(1.5));
const TOO_MANY = "400 invalid_request";
const UNREADABLE = "400 unreadable_form";

describe("S138 a form", () => {
  it.each([["/"], ["/late"]])("of a browser is read as it was sent: %s", async (path) => {
    const file = (name: string, content: string, more = "Content-Type: application/octet-stream") =>
      part("file", content, `; filename="${name}"\r\n${more}`);
    const body = form(
      part("_charset_", "UTF-8"),
      part("text", 'a "quote", [1,2,3] \r\n\r\n--y'),
      part("path", "ä"),
      part("path", ""),
      file("a %22b%22.txt", "1,2"),
      file("ä\\ö.txt", "[".repeat(9_000), "Content-Type: text/plain"),
      file("a%0D%0Ab", ",".repeat(2_000_000)),
      file("", ""),
      ...Array.from({ length: 200 }, (_, at) => file(`${at}`, "")),
    );
    const names = (read: Read[] | string) => (typeof read === "string" ? read : read.map(({ name }) => name).slice(0, 9));
    const first = ["_charset_", "text", "path", "path", "file", "file", "file", "file", "file"];
    const read = await send(body, MULTIPART, path);
    expect(names(read)).toEqual(first);
    expect(read).toHaveLength(208);
    expect(read[6]).toEqual({ name: "file", file: "a\r\nb", length: 2_000_000 });
    const called = await send(body.replace(/name="(path|text|file)"/g, 'name="_1_$1"'), { ...MULTIPART, ...CALL }, path);
    expect(called).toHaveLength(208);
    expect(called[5]).toEqual({ name: "_1_file", file: "ö.txt", length: 9_000 });
  });

  it("is abandoned once it exceeds its limit", async () => {
    const before = checked;
    const body = new ReadableStream({
      start: async (controller) => {
        for (let sent = 0; sent < 3; sent++) {
          controller.enqueue(Buffer.from(part("a", "x".repeat(900))));
          await delay(20);
        }
        controller.close();
      },
    });
    const init = { method: "POST", headers: MULTIPART, body, duplex: "half" } as RequestInit;
    expect((await fetch(`${origin}/limited`, init)).status).toBe(413);
    await expect.poll(() => checked).toBe(before + 1);
  });

  it("of undici is read as it was sent", async () => {
    const data = new FormData();
    data.append("text", "a\r\nb, c");
    data.append('a "b"', "");
    data.append("file", new File([], "none.txt"));
    data.append("file", new File(["abc"], 'a "b" ä\\ö.txt', { type: "text/plain" }));
    expect(await send(data)).toEqual([
      { name: "text", length: 7 },
      { name: 'a "b"', length: 0 },
      { name: "file", file: "none.txt", length: 0 },
      { name: "file", file: 'a "b" ä\\ö.txt', length: 3 },
    ]);
    expect(await send(data, CALL)).toHaveLength(4);
  });

  it("of a call without parts is read as it was sent", async () => {
    expect(await send('["$K1"]', { "content-type": "text/plain", ...CALL })).toBe(7);
    expect(await send("", { "content-type": "text/plain", ...CALL })).toBe(0);
    expect(await send(list(9_000), { "content-type": "application/json" })).toBe(36_001);
  });

  it("may have 5,000 parts and 5,000 values, and counts as more work than its size alone", async () => {
    const fields = Array.from({ length: 4_999 }, () => part("_1_a", ""));
    expect(await send(form(...fields, part("0", list(4_990))), { ...MULTIPART, ...CALL })).toHaveLength(5_000);
    expect(workMs).toBeGreaterThan(100);
    await send(form(part("a", "")), MULTIPART);
    expect(workMs).toBeLessThan(1);
  });

  it.each<[string, string, Record<string, string>, string]>([
    ["parts", form(...Array(5_001).fill(part("a", ""))), MULTIPART, TOO_MANY],
    ["values in a call", form(part("1", list(6_000)), part("0", '["$W1"]')), { ...MULTIPART, ...CALL }, TOO_MANY],
    ["values in a stream", form(part("S1", list(6_000))), { ...MULTIPART, ...CALL }, TOO_MANY],
    ["values in a call without parts", list(6_000), CALL, TOO_MANY],
    ["values in two parts", form(part("1", list(3_000)), part("2", list(3_000))), { ...MULTIPART, ...CALL }, TOO_MANY],
    ["values after an open quote", form(part("1", '"'), part("2", list(6_000))), { ...MULTIPART, ...CALL }, TOO_MANY],
    ["values of an action's form", form(part("$ACTION_1:1", list(6_000))), MULTIPART, TOO_MANY],
    ["values behind a byte order mark", form(part("\ufeff$ACTION_1:1", list(6_000))), MULTIPART, TOO_MANY],
    ["levels", form(part("0", "[".repeat(200))), { ...MULTIPART, ...CALL }, TOO_MANY],
  ])("with too many %s is refused", async (_, body, headers, expected) => {
    expect(await send(body, headers)).toBe(expected);
  });

  it.each<[string, string, string?]>([
    ["nothing in it", ""],
    ["no end", part("a", "")],
    ["something before it", `a\r\n${form(part("a", ""))}`],
    ["something behind it", `${form(part("a", ""))}a`],
    ["a backslash in a name", form(part("\\_1", ""))],
    ["no name", form(part("", ""))],
    ["a charset of a text", form(part("_1", "", "\r\nContent-Type: text/plain; charset=utf-16le"))],
    ["another header", form(part("_1", "", "\r\nX: y"))],
    ["two names", form(part("_1", "", '; name="1"'))],
    ["a part that ends within its head", form('--x\r\nContent-Disposition: form-data; name="a"\r\n')],
    ["two boundaries", form(part("a", "")), "multipart/form-data; boundary=x; boundary=y"],
    ["no boundary", form(part("a", "")), "multipart/form-data"],
    ["another kind", form(part("a", "")), "multipart/mixed; boundary=x"],
  ])("with %s, which readers may understand differently, is refused", async (_, body, type = MULTIPART["content-type"]) => {
    expect(await send(body, { "content-type": type })).toBe(UNREADABLE);
  });

  it("has no part that is a file for this service and a text for Next", async () => {
    const filenames = [
      '""',
      '" "',
      '"\t"',
      '"\0"',
      '"\ufeff"',
      '"\\"',
      '"\\\\"',
      '"."',
      '".."',
      '"a/"',
      '"%00"',
      '"a"',
      '"a";',
      "a",
    ];
    const names = [
      ...[
        "",
        '; FileName=""',
        ';filename="a"',
        "; filename*=UTF-8''",
        "; filename*=UTF-8''a",
        "; filename=\"a\"; filename*=UTF-8''",
      ],
      ...[...filenames, '"";filename="a"', '"";\r\n filename="a"', '"a";name="1"'].map((filename) => `; filename=${filename}`),
    ];
    const binary = [
      "application/octet-stream",
      "Application/Octet-Stream",
      "application/octet-stream; a=b",
      "application/octet-stream ",
    ];
    const types = ["", "text/plain", "text/plain; charset=utf-16le", "multipart/mixed; boundary=y", "application", ...binary];
    const others = ["", "\r\nContent-Transfer-Encoding: base64", '\r\nContent-Disposition: form-data; name="1"'];
    const withTypes = names.flatMap((name) => [name, ...types.map((type) => `${name}\r\nContent-Type: ${type}`)]);
    const heads = withTypes.flatMap((head) => others.map((other) => head + other));
    const accepted: string[] = [];
    const sendAll = async (name: string, headers: Record<string, string>) => {
      for (const head of heads) {
        const read = await send(form(part(name, list(5_001), head)), headers, "/");
        if (typeof read === "string") continue;
        accepted.push(head);
        expect([head, read.filter(({ file }) => file === undefined)]).toEqual([head, []]);
      }
    };
    await sendAll("0", { ...MULTIPART, ...CALL });
    await sendAll("$ACTION_1:1", MULTIPART);
    expect(accepted).toEqual(
      expect.arrayContaining(['; filename=""\r\nContent-Type: application/octet-stream', '; filename="a"']),
    );
  });
});
