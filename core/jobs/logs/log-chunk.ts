/** `system`: messages of this service about the run. */
export const logStreams = ["stdout", "stderr", "system"] as const;
export type LogStream = (typeof logStreams)[number];

/** A piece of output: whole lines of one stream, unless a line is very long or stays unfinished for long. */
export type LogChunk = { seq: number; at: Date; stream: LogStream; text: string };
