import { expect, test } from "vitest";
import { byteSize } from "./path-trail.tsx";

test("a size is shown in the largest unit in which it is at least 1", () => {
  const sizes = {
    0: "0 B",
    999: "999 B",
    1000: "1 kB",
    1250: "1.3 kB",
    99949: "99.9 kB",
    99960: "100 kB",
    999600: "1 MB",
    5e12: "5 TB",
    5e16: "50000 TB",
  };
  for (const [bytes, text] of Object.entries(sizes)) expect(byteSize(Number(bytes)), bytes).toBe(text);
});
