// Simulates a faulty machine, with a clock that jumps and malicious name servers. NODE_OPTIONS loads this file into the service's
// processes.

import dns from "node:dns/promises";
import { readFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const { CHAOS_CLOCK: clockFile, CHAOS_DNS: nameServer } = process.env;

if (nameServer) {
  const { Resolver } = dns;
  dns.Resolver = class extends Resolver {
    constructor(options) {
      super(options);
      this.setServers([nameServer]);
    }
  };
  syncBuiltinESMExports();
}

if (clockFile) {
  const RealDate = Date;
  let offset = 0;
  const read = () => {
    try {
      offset = Number(readFileSync(clockFile, "utf8")) || 0;
    } catch {
      offset = 0;
    }
  };
  read();
  setInterval(read, 100).unref();
  globalThis.Date = class extends RealDate {
    // When Next replaces a class, it copies only own properties, not inherited ones.
    static UTC = RealDate.UTC;
    static parse = RealDate.parse;
    constructor(...given) {
      super(...(given.length === 0 ? [RealDate.now() + offset] : given));
    }
    static now() {
      return RealDate.now() + offset;
    }
  };
}
