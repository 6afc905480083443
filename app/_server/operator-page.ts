import { notFound } from "next/navigation";
import { cache } from "react";
import { type Person, personActor } from "#core/access/actor.ts";
import { may } from "#core/access/may.ts";
import { requireSession } from "./session.ts";

/** Who looks at a page of the operators; 404 for everybody else, as for what does not exist (S136). */
export const requireOperator = cache(async (page: string): Promise<Person> => {
  const person = personActor(await requireSession(page));
  if (!(await may(person, "installation.operate", null))) notFound();
  return person;
});
