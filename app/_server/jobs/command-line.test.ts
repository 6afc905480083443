import { expect, test } from "vitest";
import { commandLine, commandWords, variableLines, variablesOf } from "./command-line.ts";

test("a command is split into words unless it uses shell syntax, which a shell runs", () => {
  const read: [string, string[] | undefined][] = [
    [`python -c "print('hi')"`, ["python", "-c", "print('hi')"]],
    [`  echo  a\\ b 'c "d"' "" `, ["echo", "a b", 'c "d"', ""]],
    ["make all && make test", ["sh", "-c", "make all && make test"]],
    ["echo '$HOME'", ["echo", "$HOME"]],
    ['echo "$HOME"', ["sh", "-c", 'echo "$HOME"']],
    ['echo "\\$5"', ["echo", "$5"]],
    ["echo a\necho b", ["sh", "-c", "echo a\necho b"]],
    ["echo 'open", undefined],
    ["", []],
  ];
  for (const [line, words] of read) expect(commandWords(line), line).toEqual(words);
  for (const words of [
    ["python", "-c", "print('hi')"],
    ["sh", "-c", "a | b"],
    ["sh", "-c", "true"],
    ["echo", "", "a b", "$x"],
  ])
    expect(commandWords(commandLine(words)), words.join(" ")).toEqual(words);
  expect(commandLine(["sh", "-c", "a | b"])).toBe("a | b");
});

test("there is one variable per line, and a value of several lines is quoted", () => {
  const text = `A=1\n# a comment\n\nexport B="two\nlines"\r\nC='x=y'\nD=`;
  const variables = { A: "1", B: "two\nlines", C: "x=y", D: "" };
  expect(variablesOf(text)).toEqual({ variables });
  expect(variablesOf(variableLines(variables))).toEqual({ variables });
  expect([variablesOf("A=1\nnot one"), variablesOf('A="open'), variablesOf("1A=x")]).toEqual([
    { wrongLine: 2 },
    { wrongLine: 1 },
    { wrongLine: 1 },
  ]);
});
