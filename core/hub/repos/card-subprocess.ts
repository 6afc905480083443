import type { RepoType } from "@keyhook/sdk";
import { answerInSubprocess } from "../../subprocesses/answer-in-subprocess.ts";
import { type CardCheck, checkYaml, parseCard } from "./parse-card.ts";

export type CardQuestion = { parse: string } | { check: string; type: RepoType };
export type CardAnswer = Record<string, unknown> | CardCheck | null;

answerInSubprocess(
  (asked: CardQuestion): CardAnswer => ("parse" in asked ? parseCard(asked.parse) : checkYaml(asked.check, asked.type)),
);
