import { expect, onTestFinished, test } from "vitest";
import { timeInZone } from "./time-words.ts";

test("a page with many times makes one formatter for each look and time zone", () => {
  const { DateTimeFormat } = Intl;
  let made = 0;
  onTestFinished(() => void Object.assign(Intl, { DateTimeFormat }));
  Intl.DateTimeFormat = new Proxy(DateTimeFormat, {
    construct: (target, args) => {
      made++;
      return Reflect.construct(target, args);
    },
  });
  const at = new Date("2026-11-21T23:03:22Z");
  for (let times = 0; times < 100; times++) {
    expect(timeInZone(at, "minute")).toBe("Nov 21, 23:03");
    expect(timeInZone(at, "minute", "Asia/Tokyo")).toBe("Nov 22, 08:03");
    expect(timeInZone(at, "day")).toBe("Nov 21");
  }
  expect(made).toBe(3);
});
