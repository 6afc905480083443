/** Why the lines of a difference are not there. */
export const WITHHELD = "Access to the content of this repository is restricted: lines are shown to those who were let in.";
