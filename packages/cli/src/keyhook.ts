#!/usr/bin/env node
import { run } from "./run.ts";
import { processTerminal } from "./terminal.ts";

const terminal = processTerminal();
process.exitCode = await run(process.argv.slice(2), terminal);
// A question or a stream may have left standard input open, which must not keep the process alive.
process.stdin.unref?.();
