import { accessTable } from "#core/access/access-table.ts";

/** `npm run access-table`: who may do what, as core/access/rules.ts has it. docs/access.md explains it. */
console.log(accessTable());
