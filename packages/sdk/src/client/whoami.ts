import { z } from "zod";
import { type Whoami, type WhoamiJob, whoamiJobSchema, whoamiSchema } from "../whoami.ts";
import type { Transport } from "./transport.ts";
import type { Asked } from "./whose.ts";

/** A person, or a CI job that stands for one repository (`type: "publisher"`). */
export type WhoAmI = Whoami | WhoamiJob;

const schema = z.union([whoamiSchema, whoamiJobSchema]);

/** Whose token it is. */
export const whoamiOf =
  ({ request }: Transport) =>
  ({ signal }: Asked = {}): Promise<WhoAmI> =>
    request("GET", "/api/whoami-v2", { schema, signal });
