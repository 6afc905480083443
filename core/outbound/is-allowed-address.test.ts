import { afterEach, describe, expect, test } from "vitest";
import { provideSettings } from "../env.ts";
import { isAllowedAddress } from "./is-allowed-address.ts";

afterEach(() => void provideSettings({ OUTBOUND_ALLOW_CIDRS: "" }));

const ranges: { range: string; inside: string[]; outside: string[] }[] = [
  { range: "0/8", inside: ["0.0.0.0", "0.255.255.255"], outside: ["1.0.0.0"] },
  { range: "10/8", inside: ["10.0.0.0", "10.255.255.255"], outside: ["9.255.255.255", "11.0.0.0"] },
  { range: "100.64/10", inside: ["100.64.0.0", "100.127.255.255"], outside: ["100.63.255.255", "100.128.0.0"] },
  { range: "127/8", inside: ["127.0.0.0", "127.0.0.1", "127.255.255.255"], outside: ["126.255.255.255", "128.0.0.0"] },
  { range: "168.63.129.16", inside: ["168.63.129.16"], outside: ["168.63.129.15", "168.63.129.17"] },
  {
    range: "169.254/16",
    inside: ["169.254.0.0", "169.254.169.254", "169.254.255.255"],
    outside: ["169.253.255.255", "169.255.0.0"],
  },
  { range: "172.16/12", inside: ["172.16.0.0", "172.31.255.255"], outside: ["172.15.255.255", "172.32.0.0"] },
  { range: "192.0.0/24", inside: ["192.0.0.0", "192.0.0.255"], outside: ["191.255.255.255", "192.0.1.0"] },
  { range: "192.0.2/24", inside: ["192.0.2.0", "192.0.2.255"], outside: ["192.0.1.255", "192.0.3.0"] },
  { range: "192.88.99/24", inside: ["192.88.99.0", "192.88.99.255"], outside: ["192.88.98.255", "192.88.100.0"] },
  { range: "192.168/16", inside: ["192.168.0.0", "192.168.255.255"], outside: ["192.167.255.255", "192.169.0.0"] },
  { range: "198.18/15", inside: ["198.18.0.0", "198.19.255.255"], outside: ["198.17.255.255", "198.20.0.0"] },
  { range: "198.51.100/24", inside: ["198.51.100.0", "198.51.100.255"], outside: ["198.51.99.255", "198.51.101.0"] },
  { range: "203.0.113/24", inside: ["203.0.113.0", "203.0.113.255"], outside: ["203.0.112.255", "203.0.114.0"] },
  { range: "224/4", inside: ["224.0.0.0", "239.255.255.255"], outside: ["223.255.255.255"] },
  { range: "240/4", inside: ["240.0.0.0", "255.255.255.254", "255.255.255.255"], outside: [] },
  { range: "::/8", inside: ["::", "::1", "::2", "ff:ffff::"], outside: [] },
  { range: "64:ff9b:1::/48", inside: ["64:ff9b:1::", "64:ff9b:1:ffff::8.8.8.8"], outside: [] },
  { range: "100::/64", inside: ["100::", "100::ffff:ffff:ffff:ffff"], outside: [] },
  { range: "2001::/32", inside: ["2001::", "2001:0:ffff::1"], outside: [] },
  { range: "2001:10::/28", inside: ["2001:10::", "2001:1f:ffff::"], outside: [] },
  { range: "2001:20::/28", inside: ["2001:20::", "2001:2f:ffff::"], outside: ["2001:200::1"] },
  { range: "2001:db8::/32", inside: ["2001:db8::", "2001:db8:ffff::"], outside: ["2001:db7:ffff::", "2001:db9::"] },
  { range: "3fff::/20", inside: ["3fff::", "3fff:fff:ffff::"], outside: ["3ffe:ffff::", "3fff:1000::"] },
  { range: "2002::/16", inside: ["2002::", "2002:ffff::"], outside: ["2001:ffff::", "2003::"] },
  { range: "5f00::/16", inside: ["5f00::", "5f00:ffff::"], outside: [] },
  { range: "fc00::/7", inside: ["fc00::", "fd00:ec2::254", "fdff:ffff::"], outside: [] },
  { range: "fe80::/10", inside: ["fe80::", "fe80::1%eth0", "febf:ffff::"], outside: [] },
  { range: "fec0::/10", inside: ["fec0::", "feff:ffff::"], outside: [] },
  { range: "ff00::/8", inside: ["ff00::", "ff02::1", "ffff:ffff::"], outside: [] },
  { range: "unassigned", inside: ["200::1", "1fff:ffff::", "4000::1"], outside: ["2000::1", "3000::1"] },
];

describe("S118 a request", () => {
  test.each(ranges.flatMap(({ range, inside }) => inside.map((address) => [address, range])))(
    "may not reach %s, of %s",
    (address) => {
      expect(isAllowedAddress(address)).toBe(false);
    },
  );

  test.each(ranges.flatMap(({ range, outside }) => outside.map((address) => [address, range])))(
    "may reach %s, beside %s",
    (address) => {
      expect(isAllowedAddress(address)).toBe(true);
    },
  );

  test.each(["8.8.8.8", "1.1.1.1", "2606:4700:4700::1111", "2a00:1450:4001:81b::200e"])("may reach the public %s", (address) => {
    expect(isAllowedAddress(address)).toBe(true);
  });

  test.each(["", "localhost", "1", "127.1", "0x7f000001", "8.8.8", "8.8.8.8/32", "[2606:4700::1]", "08.8.8.8"])(
    "may not be sent to text that is not an address: %j",
    (text) => {
      expect(isAllowedAddress(text)).toBe(false);
    },
  );
});

const forms = {
  mapped: ["::ffff:10.0.0.1", "::ffff:a00:1", "0:0:0:0:0:FFFF:0A00:0001"],
  compatible: ["::10.0.0.1"],
  translated: ["::ffff:0:10.0.0.1"],
  NAT64: ["64:ff9b::10.0.0.1", "64:ff9b::a00:1"],
  "6to4": ["2002:a00:1::1"],
  // The client's address with every bit inverted, and a server in a private network.
  Teredo: ["2001:0:808:808::f5ff:fffe", "2001:0:a00:1::f7f7:f7f7"],
  ISATAP: ["2606:4700::5efe:10.0.0.1", "2606:4700::200:5efe:10.0.0.1", "2606:4700::300:5efe:10.0.0.1"],
};

describe("S118 an IPv6 address that embeds an IPv4 address", () => {
  test.each(Object.entries(forms).flatMap(([form, all]) => all.map((address) => [form, address])))(
    "is refused if the IPv4 address is private (%s): %s",
    (_form, address) => {
      expect(isAllowedAddress(address)).toBe(false);
    },
  );

  test.each(["::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2606:4700::5efe:8.8.8.8"])(
    "is allowed if the IPv4 address is public: %s",
    (address) => {
      expect(isAllowedAddress(address)).toBe(true);
    },
  );

  // The range has one address, so every bit of the embedded address counts.
  test.each(["::ffff:168.63.129.N", "64:ff9b::168.63.129.N", "2606:4700::5efe:168.63.129.N"])(
    "is checked to the last bit: %s",
    (form) => {
      expect(isAllowedAddress(form.replace("N", "16"))).toBe(false);
      for (const beside of ["17", "0"]) expect(isAllowedAddress(form.replace("N", beside))).toBe(true);
    },
  );

  test("is checked like any other address if it only resembles ISATAP", () => {
    expect(isAllowedAddress("2606:4700::1:5efe:10.0.0.1")).toBe(true);
  });

  test.each(["::8.8.8.8", "::ffff:0:8.8.8.8", "2002:808:808::1", "2001:0:808:808::f7f7:f7f7"])(
    "is refused in a form that is not used, even if the IPv4 address is public: %s",
    (address) => {
      expect(isAllowedAddress(address)).toBe(false);
    },
  );
});

describe("S119 what the operator allows", () => {
  test("is allowed in each of its forms, while every other address stays forbidden", () => {
    provideSettings({ OUTBOUND_ALLOW_CIDRS: "10.1.0.0/16, 127.0.0.1, fd00:1::/32" });
    for (const address of ["10.1.0.0", "10.1.255.255", "127.0.0.1", "::ffff:10.1.2.3", "64:ff9b::10.1.2.3", "fd00:1::5"])
      expect(isAllowedAddress(address), address).toBe(true);
    for (const address of ["10.2.0.0", "127.0.0.2", "::1", "fd00:2::5", "2002:a01:203::1", "169.254.169.254"])
      expect(isAllowedAddress(address), address).toBe(false);
  });

  test("is read again when the settings change", () => {
    provideSettings({ OUTBOUND_ALLOW_CIDRS: "::1" });
    expect(isAllowedAddress("::1")).toBe(true);
    provideSettings({ OUTBOUND_ALLOW_CIDRS: "" });
    expect(isAllowedAddress("::1")).toBe(false);
  });
});
