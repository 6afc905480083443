import { describe, expect, test } from "vitest";
import { isLookAlike } from "./app-name.ts";

describe("S28 a name that looks like the service's own is recognized", () => {
  test.each([
    "Keyhook",
    "KEYHOOK",
    "keyhook",
    "Keyhook Support",
    "Sign in with Keyhook",
    "KeyhookApp",
    "Key hook",
    "K-e-y-h-o-o-k",
    "Keyh00k",
    "Кеуhооk",
    "ΚΕΥΗΟΟΚ",
    "Ｋｅｙｈｏｏｋ",
    "𝓚𝓮𝔂𝓱𝓸𝓸𝓴",
    "K\u0301éyhook",
    "Key\u200bhook",
    "Key\u00adhook",
    "ᴋᴇʏʜᴏᴏᴋ",
    "Kəyhook",
    "[Keyhook]",
  ])("%s", (name) => {
    expect(isLookAlike(name, "Keyhook")).toBe(true);
  });
});

describe("a name that does not look like the service's own is accepted", () => {
  test.each(["Paper Lantern", "Keymap", "Hooks & Keys", "Hook", "Key", "Monkey Hoop", "日本語アプリ", "Приложение", "🗝️"])(
    "%s",
    (name) => {
      expect(isLookAlike(name, "Keyhook")).toBe(false);
    },
  );
});

test("a short brand is recognized only as a whole word", () => {
  expect(isLookAlike("Hub", "Hub")).toBe(true);
  expect(isLookAlike("The hub", "Hub")).toBe(true);
  expect(isLookAlike("H.u.b", "Hub")).toBe(true);
  expect(isLookAlike("Hubble", "Hub")).toBe(false);
  expect(isLookAlike("Chubby", "Hub")).toBe(false);
});

test("a brand in another script or with look-alike letters is recognized", () => {
  expect(isLookAlike("Ключ", "Ключ")).toBe(true);
  expect(isLookAlike("corn field 1", "Cornfield 1")).toBe(true);
});
