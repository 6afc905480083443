/**
 * What an action is bound to as a text. It comes back from the browser, so it may be anything, and `String` throws at `{"toString": 1}`
 * (S51): what is no text is nothing.
 */
export const givenText = (text: string | undefined): string => (typeof text === "string" ? text : "");

/** The same as one segment of a path. */
export const pathSegment = (text: string): string => encodeURIComponent(givenText(text).toWellFormed());
