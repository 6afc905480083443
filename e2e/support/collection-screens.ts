import { randomBytes } from "node:crypto";
import { enterAgain } from "./enter.ts";
import { hubClient } from "./hub.ts";
import { go, type Screen, type Visit } from "./screen.ts";

export const collectionScreens: Screen[] = [
  { name: "collection", open: async (visit) => void (await openCollection(visit)) },
  {
    name: "collection-edit",
    async open(visit) {
      await openCollection(visit);
      await visit.page.getByRole("link", { name: "Edit" }).click();
      await visit.page.getByRole("heading", { level: 1, name: "Collection settings" }).waitFor();
    },
  },
  {
    name: "collection-add",
    async open(visit) {
      await openCollection(visit);
      await go(visit.page, `/collections/add?type=model&repo=${visit.newcomer.username}/tides`);
    },
  },
];

let collection: Promise<string> | undefined;

async function openCollection(visit: Visit): Promise<void> {
  collection ??= makeCollection(visit);
  await enterAgain(visit.page, visit.newcomer);
  await go(visit.page, `/collections/${await collection}`);
}

async function makeCollection({ demo, newcomer }: Visit): Promise<string> {
  const { username } = newcomer;
  const hub = await hubClient(demo, newcomer, "manage-repos write-collections");
  const title = `Shores ${randomBytes(3).toString("hex")}`;
  const { slug = "" } = await hub.send<{ slug?: string }>("POST", "/api/collections", {
    title,
    namespace: username,
    theme: "pink",
    description: "What lies between the highest and the lowest water.",
  });
  for (const [name, type, note] of [
    ["tides", "model", "Read this first.\nIt explains the others."],
    ["moons-of-the-outer-planets-and-their-names", "dataset", ""],
    ["harbour", "space", ""],
  ]) {
    await hub.send("POST", "/api/repos/create", { name, type, private: type === "space" });
    await hub.send("POST", `/api/collections/${slug}/items`, { item: { type, id: `${username}/${name}` }, note });
  }
  return slug;
}
