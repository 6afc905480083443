#!/usr/bin/env node
import { processTerminal } from "./process-terminal.ts";
import { run } from "./run.ts";

const terminal = processTerminal();
process.exitCode = await run(process.argv.slice(2), terminal);
// Somebody may have been asked, or followed something: what is left open must not keep the program.
process.stdin.unref?.();
